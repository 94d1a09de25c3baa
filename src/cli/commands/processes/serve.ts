import { Command, Option } from 'commander'
import { messageOf } from '../../../common/errors.js'
import { waitForAbort } from '../../../common/async/abort.js'
import { listenForInterrupts } from '../../process/interrupts.js'
import { print, printStatus } from '../../process/stdio.js'
import { configOption, type ConfigOption, integerUpTo, parseOrigin } from '../options.js'

interface Options extends ConfigOption {
  readonly host: string
  readonly port: number
  readonly origin: readonly string[]
}

export function serveCommand(): Command {
  return new Command('serve')
    .description('serve conversations, their live stream, approvals, MCP and a chat page over HTTP, until Ctrl-C')
    .addOption(configOption())
    .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
    .addOption(new Option('--port <port>', 'port to listen on; 0: a free one').argParser(parsePort).default(8080))
    .addOption(
      new Option('--origin <url...>', 'origin of another web page that may send requests')
        .argParser(parseOrigin)
        .default([], 'none'),
    )
    .addHelpText(
      'after',
      `
With PTC_SERVE_TOKEN, every request needs "Authorization: Bearer TOKEN". Any other --host than the loopback interface
needs it. The server keeps nothing: it may be restarted at any time, and several may run side by side.`,
    )
    .action(serve)
}

function parsePort(text: string): number {
  return text === '0' ? 0 : integerUpTo(65_535)(text)
}

async function serve({ config, host, port, origin: origins }: Options): Promise<void> {
  using interrupts = listenForInterrupts()
  const { openEnvironment } = await import('../../environment/environment.js')
  const { environmentVariable } = await import('../../../platform/environment-variable.js')
  const { openMcpHost } = await import('../../mcp/mcp-host.js')
  const { openMcpEndpoint, startServer } = await import('../../../serve/index.js')
  await using environment = await openEnvironment({ config, ifNoServer: 'fail', interrupts })
  const { ptc, stream, modelNames: models } = environment
  const token = environmentVariable('PTC_SERVE_TOKEN')
  const onError = (thrown: unknown): void => printStatus(`ptc: ${messageOf(thrown)}`)
  await using mcpHost = environment.config === undefined ? undefined : openMcpHost(environment, onError)
  const mcp = mcpHost && openMcpEndpoint(mcpHost)
  const server = await startServer({ ptc, models, host, port, token, origins, onError, mcp })
  try {
    print(`chat page: ${server.url}`)
    if (mcp) print(`MCP: ${server.url}/mcp`)
    if (!stream) printStatus('the configuration has no `stream`, so answers are shown when they are complete')
    const exitError = await Promise.race([environment.unexpectedExit, waitForAbort(interrupts.first)])
    if (exitError !== undefined) throw exitError
  } finally {
    await server.close()
  }
}
