import { Command } from 'commander'
import { programRoles, roles } from '../../../common/names.js'
import type { TemporalServer } from '../../../dev-server/index.js'
import type { Environment } from '../../environment/environment.js'
import { type Interrupts, listenForInterrupts } from '../../process/interrupts.js'
import { printStep } from '../../process/stdio.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'

export function watchCommand(): Command {
  return new Command('watch')
    .description('follow a run until it ends; resumes it if no worker runs')
    .argument('<id>', 'id of the run, as `ptc list` shows it')
    .addOption(configOption())
    .addOption(jsonOption('the same object as `ptc run --json`'))
    .addHelpText('after', '\nCtrl-C stops watching; the run continues. The exit code is that of `ptc run`.')
    .action(async (id: string, options: ConfigOption & JsonOption) => {
      process.exitCode = await watch(id, options)
    })
}

async function watch(id: string, { config, json }: ConfigOption & JsonOption): Promise<number> {
  using interrupts = listenForInterrupts()
  const { openEnvironment } = await import('../../environment/environment.js')
  const { warnIfNoWorkers } = await import('../../environment/worker-warnings.js')
  const { followRun, printRunLink } = await import('../../run/follow-run.js')
  const { printRunEnding } = await import('../../run/print-run-ending.js')

  const options = { config, load: 'if_named', ifNoServer: 'start_read_only', interrupts } as const
  await using readingEnvironment = await openEnvironment(options)
  const { server, ownsServer } = readingEnvironment
  const { runId, status, type } = await readingEnvironment.ptc.handle(id).describe()
  const isRunning = status === 'running'
  // A server that this command started has no other worker. A run that has ended needs no worker.
  await using environment =
    isRunning && ownsServer ? await openWithWorker(server, config, interrupts) : readingEnvironment
  // Without the configuration the command does not know whether the run has tools. The tree shows a call that waits for
  // a worker.
  const requiredRoles = (type === 'program' ? programRoles : roles).filter((role) => role !== 'tools')
  if (isRunning) await warnIfNoWorkers(environment, requiredRoles)
  const handle = environment.ptc.handle(id, runId)
  printRunLink(handle, environment)
  const ending = await followRun(handle, { environment, interrupts, onInterrupt: 'detach' })
  return printRunEnding(ending, json === true)
}

/** @throws PtcError TEMPORAL_UNREACHABLE when there is no configuration for a worker */
async function openWithWorker(
  server: TemporalServer,
  config: string | undefined,
  interrupts: Interrupts,
): Promise<Environment> {
  const { connectEnvironment } = await import('../../environment/environment.js')
  const { resolveProject } = await import('../../environment/project.js')
  const { noServerError } = await import('../../environment/server.js')
  const project = await resolveProject({ config })
  if (project.config === undefined) throw noServerError('start_with_worker')
  printStep('starting a worker for this command')
  return connectEnvironment({ project, server, startsWorker: true, interrupts })
}
