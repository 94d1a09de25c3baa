import { relative } from 'node:path'
import { Command, Option } from 'commander'
import { defined } from '../../../common/defined.js'
import type { LogLevel } from '../../../worker/index.js'
import type { TemporalServer } from '../../../dev-server/index.js'
import { listenForInterrupts } from '../../process/interrupts.js'
import {
  configOption,
  type ConfigOption,
  sandboxOption,
  type SandboxOption,
  integerUpTo,
  logLevelOption,
} from '../options.js'
import type { LoadedProject } from '../../environment/project.js'
import type { WorkerProcess } from '../../environment/worker-process.js'
import { printProse, printStatus } from '../../process/stdio.js'

interface Options extends ConfigOption, SandboxOption {
  readonly port?: number
  readonly uiPort?: number
  readonly logLevel: LogLevel
}

const portNumber = integerUpTo(65_535)

/** `ptc dev`: a Temporal server with its UI and a worker with every role, for one folder. */
export function devCommand(): Command {
  return new Command('dev')
    .description('run a Temporal server with its UI, and a worker, until Ctrl-C; the state is in .ptc/')
    .addOption(configOption())
    .addOption(sandboxOption())
    .addOption(new Option('--port <port>', 'port of the server (default: 7233, or a free one)').argParser(portNumber))
    .addOption(new Option('--ui-port <port>', 'port of the UI (default: 8233, or a free one)').argParser(portNumber))
    .addOption(logLevelOption().default('WARN'))
    .addHelpText(
      'after',
      `
With TEMPORAL_ADDRESS or a profile set, uses that server and starts none.

Example:
  ptc dev &
  ptc run "Which engineers exceeded their travel budget in Q3?"`,
    )
    .action(runDev)
}

async function runDev(options: Options): Promise<void> {
  using interrupts = listenForInterrupts()
  const { displayPath, loadProject } = await import('../../environment/project.js')
  const { runUntilStopped } = await import('../../environment/run-until-stopped.js')
  const { resolveServerWithUi } = await import('../../environment/server.js')
  const { watchConfig } = await import('../../environment/watch-config.js')
  const { startWorkerProcess } = await import('../../environment/worker-process.js')

  const { config: file, sandbox, logLevel, port, uiPort } = options
  const signal = interrupts.first
  const project = await loadProject(file)
  // Watches before the server and the worker start: a change from then on counts.
  const watch = watchConfig(project.config.path, (path) =>
    printStatus(`${displayPath(path)} changed: restart \`ptc dev\` to use it`),
  )
  try {
    const ports = defined({ port, uiPort })
    const server = await resolveServerWithUi(project, { ...ports, signal })
    const worker = await startWorkerProcess({ config: file, sandbox, logLevel }, signal).catch(async (thrown) => {
      await server.close()
      throw thrown
    })
    printProse(formatWelcome(server, worker, project))
    await runUntilStopped(worker, server, interrupts)
  } finally {
    watch.close()
  }
}

function formatWelcome(
  server: TemporalServer,
  worker: WorkerProcess,
  { config, stateDirectory }: LoadedProject,
): string {
  const { tools, taskQueue, path } = config
  const toolNames = [...tools.known.names, ...tools.sources.map(({ name }) => `those of ${name}`)]
  const serverOrigin =
    server.origin === 'configured'
      ? 'configured'
      : `state in ${relative(process.cwd(), stateDirectory) || stateDirectory}`
  return [
    '',
    `Temporal  ${server.address}, namespace ${server.namespace} (${serverOrigin})`,
    ...(server.uiUrl === undefined ? [] : [`UI        ${server.uiUrl}`]),
    `Config    ${relative(process.cwd(), path) || path}, task queue ${taskQueue}`,
    `Tools     ${toolNames.join(', ') || 'none'}`,
    ...(worker.modelNotice === undefined ? [] : [`Model     ${worker.modelNotice}`]),
    ...(worker.notice === undefined ? [] : [`Sandbox   ${worker.notice.replace(/^sandbox: /, '')}`]),
    '',
    'Ready. In another terminal of this folder: ptc run "your question"',
    'Ctrl-C stops it; running runs resume next time.',
  ].join('\n')
}
