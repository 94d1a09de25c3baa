import { Command } from 'commander'
import { waitForAbort } from '../../../common/async/abort.js'
import { messageOf } from '../../../common/errors.js'
import { listenForInterrupts } from '../../process/interrupts.js'
import { printStatus, reserveStdout } from '../../process/stdio.js'
import { mcpLoginCommand, mcpLogoutCommand } from './mcp-login.js'
import { configOption, type ConfigOption, sandboxOption, type SandboxOption } from '../options.js'

interface Options extends ConfigOption, SandboxOption {}

export function mcpCommand(): Command {
  return new Command('mcp')
    .description('serve code, agents and tools to one MCP client over standard input and output')
    .addOption(configOption())
    .addOption(sandboxOption())
    .addHelpText(
      'after',
      `
A client, such as an editor, starts this command. \`ptc serve\` serves many clients over HTTP, at /mcp.
Without a Temporal server, it starts one with a worker, which end with it; the work continues when they run again.

Example of a client's configuration:
  { "mcpServers": { "ptc": { "command": "npx", "args": ["ptc", "mcp", "--config", "/path/to/ptc.config.ts"] } } }`,
    )
    .action(serveMcp)
    .addCommand(mcpLoginCommand())
    .addCommand(mcpLogoutCommand())
}

async function serveMcp({ config, sandbox }: Options): Promise<void> {
  // The protocol has stdout: another line in it would break the connection.
  const output = reserveStdout()
  using interrupts = listenForInterrupts()
  const { openEnvironment } = await import('../../environment/environment.js')
  const { openMcpHost } = await import('../../mcp/mcp-host.js')
  const { serveMcpOnStdio } = await import('../../../serve/mcp/index.js')
  await using environment = await openEnvironment({ config, sandbox, ifNoServer: 'start_with_worker', interrupts })
  await using host = openMcpHost(environment, (thrown) => printStatus(`ptc: ${messageOf(thrown)}`))
  const connection = serveMcpOnStdio({ host, input: process.stdin, output })
  try {
    const ended = Promise.race([connection.closed, waitForAbort(interrupts.first)]).then(() => undefined)
    const exitError = await Promise.race([environment.unexpectedExit, ended])
    if (exitError !== undefined) throw exitError
  } finally {
    await connection.close()
  }
}
