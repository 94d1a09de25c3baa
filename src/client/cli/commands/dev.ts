import { relative } from 'node:path'
import { Command, Option } from 'commander'
import type { LogLevel, TemporalServer } from '../../../worker/index.js'
import { unlessAborted } from '../../../common/abort.js'
import { catchInterrupts } from '../interrupts.js'
import { configOption, type ConfigOption, sandboxOption, type SandboxOption, wholeNumber } from '../options.js'
import type { OwnWorker } from '../own-worker.js'
import type { LoadedConfig } from '../project.js'
import { print, sayStep } from '../terminal.js'
import { logLevels } from '../worker-log.js'

interface Options extends ConfigOption, SandboxOption {
  readonly port?: number
  readonly uiPort?: number
  readonly logLevel: LogLevel
}

const port = wholeNumber(65_535)

/** `ptc dev`: a Temporal server with its UI and a worker with every role, for one folder. */
export function devCommand(): Command {
  return new Command('dev')
    .description('run a Temporal server with its UI, and a worker, until Ctrl-C; state is kept in .ptc/')
    .addOption(configOption())
    .addOption(sandboxOption())
    .addOption(new Option('--port <port>', 'port of the server (default: 7233, or a free one)').argParser(port))
    .addOption(new Option('--ui-port <port>', 'port of the UI (default: 8233, or a free one)').argParser(port))
    .addOption(new Option('--log-level <level>', 'what is logged to stderr').choices(logLevels).default('WARN'))
    .addHelpText(
      'after',
      `
With TEMPORAL_ADDRESS or a profile set, that server is used and none is started.

Example:
  ptc dev &
  ptc run "Which engineers exceeded their travel budget in Q3?"`,
    )
    .action(develop)
}

async function develop(options: Options): Promise<void> {
  using interrupts = catchInterrupts()
  const { loadConfig, installRuntime } = await import('../../../worker/index.js')
  const { runWorker, withSandbox } = await import('../own-worker.js')
  const { serve } = await import('../serve.js')
  const { stallLogOf, stderrLog } = await import('../worker-log.js')
  const { stateDirectory } = await import('../project.js')
  const { rememberSettings } = await import('../../../worker/config/remembered-settings.js')

  const config = withSandbox(await loadConfig(options.config), options.sandbox)
  const state = stateDirectory()
  if (options.config === undefined) await rememberSettings(state, config)
  const server = await findOrStart(state, options, interrupts.first)
  let worker: OwnWorker
  try {
    installRuntime(options.logLevel, stderrLog)
    const own = { config, server, warm: 1, stallLog: stallLogOf(options.logLevel), onProgress: sayStep }
    worker = await unlessAborted(interrupts.first, runWorker(own))
  } catch (thrown) {
    await server.close()
    throw thrown
  }
  print(welcome(server, worker, config, state))
  await serve(worker, server, interrupts)
}

async function findOrStart(state: string, { port, uiPort }: Options, signal: AbortSignal): Promise<TemporalServer> {
  const { resolveTemporal, startDevServer } = await import('../../../worker/index.js')
  const configured = await resolveTemporal({ onProgress: sayStep })
  if (configured !== undefined) return configured
  return startDevServer({
    stateDirectory: state,
    ui: true,
    ...(port === undefined ? {} : { port }),
    ...(uiPort === undefined ? {} : { uiPort }),
    onProgress: sayStep,
    signal,
  })
}

function welcome(server: TemporalServer, worker: OwnWorker, config: LoadedConfig, state: string): string {
  const { registry, taskQueue, path } = config
  const where = server.origin === 'configured' ? 'configured' : `state in ${relative(process.cwd(), state) || state}`
  return [
    '',
    `Temporal  ${server.address}, namespace ${server.namespace} (${where})`,
    ...(server.uiUrl === undefined ? [] : [`UI        ${server.uiUrl}`]),
    `Config    ${relative(process.cwd(), path) || path}, task queue ${taskQueue}`,
    `Tools     ${registry.names.join(', ') || 'none'}`,
    ...(worker.notice === undefined ? [] : [`Sandbox   ${worker.notice.replace(/^sandbox: /, '')}`]),
    '',
    'Ready. In another terminal of this folder: ptc run "your question"',
    'Ctrl-C ends it; runs that are under way go on the next time.',
  ].join('\n')
}
