import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { ToolContext } from '../dist/index.js'
import { loadConfig } from '../dist/worker/index.js'
import { echoServer } from './mcp.config.js'
import { benchmark } from './support/benchmark.js'
import { interleaved, ratios } from './support/measure.js'
import { measureProgram } from './support/programs.js'
import { startStack } from './support/stack.js'

const configFile = fileURLToPath(new URL('mcp.config.ts', import.meta.url))

// Compares a call of an MCP tool by code with the same call by the SDK alone, by our source of tools without a run, and
// with a call of a tool of the configuration.
await benchmark('mcp', async (context) => {
  const { runs, calls, progress, defer } = context
  const stack = await startStack(context, { configFile })

  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StdioClientTransport({ ...echoServer, stderr: 'ignore' }))
  defer(() => client.close())

  const { registry, close } = await (await loadConfig(configFile)).tools.open()
  defer(close)
  const echo = registry.get('demo__echo')
  if (!echo) throw new Error('the server has no tool echo')
  const { signal } = context
  const ignored = (): void => undefined
  // The source needs no other member.
  const toolContext = {
    signal,
    idempotencyKey: 'bench',
    milestone: ignored,
    heartbeat: ignored,
  } as unknown as ToolContext

  const timed = async (call: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now()
    for (let count = 0; count < calls; count++) await call()
    return (performance.now() - startedAt) / calls
  }
  const program = async (statement: string): Promise<number> => {
    const { durationMs } = await measureProgram(stack, `for value in range(${calls}):\n    await ${statement}`)
    return durationMs / calls
  }
  const work = {
    sdk: () => timed(() => client.callTool({ name: 'echo', arguments: { message: 'hello' } })),
    source: () => timed(async () => echo.run({ message: 'hello' }, toolContext)),
    code: () => program('demo__echo(message="hello")'),
    own: () => program('ping(value=value)'),
  }
  progress('warming up')
  await interleaved(1, work)
  progress(`${runs} repetitions of ${calls} calls, by the SDK, by the source of tools, and from code`)
  const { sdk, source, code, own } = await interleaved(runs, work)
  return [
    { name: 'MCP call by the SDK alone', unit: 'ms', samples: sdk },
    { name: 'MCP call by the source of tools, without a run', unit: 'ms', samples: source },
    { name: 'MCP call from code', unit: 'ms', samples: code },
    { name: 'call of a tool of the configuration from code', unit: 'ms', samples: own },
    { name: 'source of tools / SDK', unit: 'x', samples: ratios(source, sdk) },
    { name: 'from code: MCP tool / tool of the configuration', unit: 'x', samples: ratios(code, own) },
    { name: 'MCP call: from code / SDK', unit: 'x', samples: ratios(code, sdk) },
  ]
})
