// A process that owns an MCP server and that a test kills: node server-owner-process.ts <server>. It prints the id of the
// server's process, which ignores the end of its input.
import { Credentials } from '../../../src/tools/credentials/credentials.js'
import type { ToolContext } from '../../../src/index.js'
import { mcpSource } from '../../../src/tools/sources/mcp/mcp-source.js'
import { mcpOption } from '../../../src/tools/sources/mcp/server-options.js'
import { listTools } from '../../../src/tools/sources/tool-source.js'

const args = [process.argv[2], '/dev/null', 'stays', 'ignores-signals']
const { odd } = mcpOption.parse({ odd: { command: process.execPath, args } })
if (odd === undefined) throw new Error('there is no server')
const { tools } = await listTools([
  mcpSource({ name: 'odd', server: odd, credentials: new Credentials(), folder: '.' }),
])
const { signal } = new AbortController()
const context = { signal, idempotencyKey: 'k', milestone: () => undefined, heartbeat: () => undefined }
console.log(
  await tools.find(({ name }) => name === 'odd__write')?.run({ id: 'pid' }, context as unknown as ToolContext),
)
setInterval(() => undefined, 1_000)
