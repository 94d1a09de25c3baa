import { Command, Option } from 'commander'
import { PtcError } from '../../../common/errors.js'
import { type Role, roles as allRoles } from '../../../common/names.js'
import type { LogLevel } from '../../../worker/index.js'
import { unlessAborted } from '../../../common/abort.js'
import { catchInterrupts } from '../interrupts.js'
import { configOption, type ConfigOption, roleList } from '../options.js'
import { say, sayStep } from '../terminal.js'
import { logLevels } from '../worker-log.js'

interface Options extends ConfigOption {
  readonly roles: readonly Role[]
  readonly logLevel: LogLevel
}

/** `ptc worker`: one member of a fleet. */
export function workerCommand(): Command {
  return new Command('worker')
    .description('run one worker of a fleet until it is told to stop')
    .addOption(configOption())
    .addOption(
      new Option('-r, --roles <list>', 'what it is for, separated by commas')
        .argParser(roleList)
        .default(allRoles, 'workflow,model,tools,sandbox'),
    )
    .addOption(new Option('--log-level <level>', 'what is logged to stderr').choices(logLevels).default('INFO'))
    .addHelpText(
      'after',
      `
Examples:
  ptc worker                              everything
  ptc worker --roles workflow,model       no tools, no sandboxes: they run elsewhere
  PTC_HOST_ID=box-1 ptc worker -r sandbox takes over the sandboxes of an earlier worker with this identity`,
    )
    .action(work)
}

async function work({ config: file, roles, logLevel }: Options): Promise<void> {
  using interrupts = catchInterrupts()
  const { loadConfig, installRuntime, resolveTemporal } = await import('../../../worker/index.js')
  const { runWorker } = await import('../own-worker.js')
  const { stateDirectory } = await import('../project.js')
  const { rememberSettings } = await import('../../../worker/config/remembered-settings.js')
  const { serve } = await import('../serve.js')
  const { stallLogOf, stderrLog } = await import('../worker-log.js')

  const config = await loadConfig(file)
  const state = stateDirectory()
  if (file === undefined) await rememberSettings(state, config)
  const server = await resolveTemporal({ stateDirectory: state, onProgress: sayStep })
  if (server === undefined) {
    throw new PtcError('TEMPORAL_UNREACHABLE', 'no Temporal server is running for this folder', {
      hint: 'Set TEMPORAL_ADDRESS, or run `ptc dev`, which brings a server and a worker.',
    })
  }
  installRuntime(logLevel, stderrLog)
  const options = { config, server, roles, stallLog: stallLogOf(logLevel), onProgress: sayStep }
  const worker = await unlessAborted(interrupts.first, runWorker(options))
  say(`worker ready: ${roles.join(', ')} on task queue ${config.taskQueue} of ${server.address} (${server.namespace})`)
  if (worker.notice !== undefined) say(worker.notice)
  await serve(worker, server, interrupts)
}
