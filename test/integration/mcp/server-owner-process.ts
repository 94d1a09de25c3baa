// A process that owns an MCP server and that a test kills: node server-owner-process.ts <server>. It prints the id of the
// server's process, which ignores the end of its input.
import { callMcpTool, listMcpTools } from '../../support/mcp/mcp-tools.js'

const args = [process.argv[2], '/dev/null', 'stays', 'ignores-signals']
const { tools } = await listMcpTools('odd', { command: process.execPath, args })
console.log(await callMcpTool(tools, 'odd__write', { id: 'pid' }))
setInterval(() => undefined, 1_000)
