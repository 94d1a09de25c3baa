import { Command, Option } from 'commander'
import { PtcError } from '../../../common/errors.js'
import { type Role, roles as allRoles } from '../../../common/names.js'
import type { LogLevel, WorkerVersion } from '../../../worker/index.js'
import { writeCompileCache } from '../../process/compile-cache.js'
import { listenForInterrupts } from '../../process/interrupts.js'
import { configOption, type ConfigOption, logLevelOption, parseAddress, parseRoles } from '../options.js'
import { printStatus, printStep } from '../../process/stdio.js'
import { formatListenAddress, parseListenAddress } from '../../../platform/listen-address.js'
import { type LogFormat, logEntry, logFormats, stderrLogIn } from '../../environment/worker-log.js'

interface Options extends ConfigOption {
  readonly roles: readonly Role[]
  readonly logLevel: LogLevel
  readonly deploymentName?: string
  readonly buildId?: string
  readonly metricsAddress?: string
  readonly healthAddress?: string
  readonly logFormat: LogFormat
}

export function workerCommand(): Command {
  return new Command('worker')
    .description('run a worker of a fleet until Ctrl-C')
    .addOption(configOption())
    .addOption(
      new Option('-r, --roles <list>', 'roles to serve, separated by commas')
        .argParser(parseRoles)
        .default(allRoles, 'workflow,model,tools,sandbox'),
    )
    .addOption(logLevelOption().default('INFO'))
    .addOption(
      new Option('--deployment-name <name>', 'worker deployment for versioning').env('TEMPORAL_DEPLOYMENT_NAME'),
    )
    .addOption(
      new Option('--build-id <id>', 'version of this worker in the deployment').env('TEMPORAL_WORKER_BUILD_ID'),
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
    .addOption(
      new Option('--log-format <format>', 'lines for people, or JSON objects')
        .choices(logFormats)
        .env('PTC_LOG_FORMAT')
        .default('text'),
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

async function runWorkerCommand({ config: file, roles, logLevel, logFormat, ...rest }: Options): Promise<void> {
  const version = workerVersion(rest)
  using interrupts = listenForInterrupts()
  const { startForegroundWorker } = await import('../../environment/cli-worker.js')
  const { loadProject, withStream } = await import('../../environment/project.js')
  const { runUntilStopped } = await import('../../environment/run-until-stopped.js')
  const { resolveServer } = await import('../../environment/server.js')

  const write = stderrLogIn(logFormat)
  const inform = logFormat === 'text' ? printStatus : (line: string) => write(logEntry(line))
  const signal = interrupts.first
  const project = await loadProject(file)
  const server = await resolveServer(project, {
    ifNoServer: 'fail',
    onProgress: logFormat === 'text' ? printStep : inform,
    signal,
  })
  const { config } = withStream(project, server)
  const { metricsAddress = config.endpoints.metrics, healthAddress = config.endpoints.health } = rest
  const endpoints = { metricsAddress, healthAddress }
  const worker = await startForegroundWorker({
    config,
    server,
    roles,
    logLevel,
    logFormat,
    version,
    signal,
    ...endpoints,
  })
  inform(
    `worker ready: ${roles.join(', ')} on task queue ${config.taskQueue} of ${server.address} (${server.namespace})`,
  )
  if (version !== undefined) inform(`version ${version.deploymentName}.${version.buildId}: runs stay on it`)
  if (metricsAddress !== undefined)
    inform(`metrics: http://${formatListenAddress(parseListenAddress(metricsAddress))}/metrics`)
  if (worker.modelNotice !== undefined) inform(`model: ${worker.modelNotice}`)
  if (worker.notice !== undefined) inform(worker.notice)
  writeCompileCache()
  await runUntilStopped(worker, server, interrupts, inform)
}

/** @throws PtcError CONFIG_INVALID when only one of the two is given */
function workerVersion({
  deploymentName,
  buildId,
}: Pick<Options, 'deploymentName' | 'buildId'>): WorkerVersion | undefined {
  if (deploymentName !== undefined && buildId !== undefined) return { deploymentName, buildId }
  if (deploymentName === undefined && buildId === undefined) return undefined
  throw new PtcError('CONFIG_INVALID', 'worker versioning needs both --deployment-name and --build-id', {
    hint: 'They may also be set as TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID.',
  })
}
