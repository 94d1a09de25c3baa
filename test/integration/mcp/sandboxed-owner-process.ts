// A process that owns a sandboxed MCP server and that a test kills: node sandboxed-owner-process.ts <name> <source>. It
// prints a line when the server is connected.
import { listMcpTools } from '../../support/mcp/mcp-tools.js'

const [, , name = '', source = ''] = process.argv
const { tools } = await listMcpTools(name, { command: 'python3', args: ['-c', source], sandboxed: true })
console.log(tools.length)
setInterval(() => undefined, 1_000)
