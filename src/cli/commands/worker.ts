import { Command, Option } from 'commander'
import { type Role, roles as allRoles } from '../../common/names.js'
import type { LogLevel } from '../../worker/index.js'
import { listenForInterrupts } from '../process/interrupts.js'
import { configOption, type ConfigOption, parseAddress, parseRoles } from './options.js'
import { printStatus, printStep } from '../process/stdio.js'
import { formatListenAddress, parseListenAddress } from '../../worker/health/listen-address.js'
import { logLevels } from '../environment/worker-log.js'

interface Options extends ConfigOption {
  readonly roles: readonly Role[]
  readonly logLevel: LogLevel
  readonly metricsAddress?: string
  readonly healthAddress?: string
}

/** `ptc worker`. */
export function workerCommand(): Command {
  return new Command('worker')
    .description('run a worker until interrupted')
    .addOption(configOption())
    .addOption(
      new Option('-r, --roles <list>', 'roles to serve, separated by commas')
        .argParser(parseRoles)
        .default(allRoles, 'workflow,model,tools,sandbox'),
    )
    .addOption(
      new Option('--log-level <level>', 'minimum level of the log on stderr').choices(logLevels).default('INFO'),
    )
    .addOption(
      new Option('--metrics-address <address>', 'serve metrics for Prometheus, at http://ADDRESS/metrics')
        .env('PTC_METRICS_ADDRESS')
        .argParser(parseAddress),
    )
    .addOption(
      new Option('--health-address <address>', 'serve /healthz and /readyz for probes')
        .env('PTC_HEALTH_ADDRESS')
        .argParser(parseAddress),
    )
    .addHelpText(
      'after',
      `
Examples:
  ptc worker                              every role
  ptc worker --roles workflow,model       no tools and no sandboxes: other workers serve them
  PTC_HOST_ID=box-1 ptc worker -r sandbox takes over the sandboxes of an earlier worker with this host id`,
    )
    .action(runWorkerCommand)
}

async function runWorkerCommand({ config: file, roles, logLevel, ...addresses }: Options): Promise<void> {
  using interrupts = listenForInterrupts()
  const { startForegroundWorker } = await import('../environment/cli-worker.js')
  const { loadProject } = await import('../environment/project.js')
  const { runUntilStopped } = await import('../environment/run-until-stopped.js')
  const { resolveServer } = await import('../environment/server.js')

  const signal = interrupts.first
  const project = await loadProject(file)
  const { config } = project
  const server = await resolveServer(project, { ifNoServer: 'fail', onProgress: printStep, signal })
  const { metricsAddress = config.endpoints.metrics, healthAddress = config.endpoints.health } = addresses
  const endpoints = { metricsAddress, healthAddress }
  const worker = await startForegroundWorker({ config, server, roles, logLevel, signal, ...endpoints })
  printStatus(
    `worker ready: ${roles.join(', ')} on task queue ${config.taskQueue} of ${server.address} (${server.namespace})`,
  )
  if (metricsAddress !== undefined)
    printStatus(`metrics: http://${formatListenAddress(parseListenAddress(metricsAddress))}/metrics`)
  if (worker.modelNotice !== undefined) printStatus(`model: ${worker.modelNotice}`)
  if (worker.notice !== undefined) printStatus(worker.notice)
  await runUntilStopped(worker, server, interrupts)
}
