// The client that the conformance suite of MCP tests: our source of tools. The suite appends the URL of its server, and
// names the scenario in the environment. It lists the tools as a worker does, and calls the tool of the scenario.
import { callMcpTool, listMcpTools } from './mcp-tools.js'

/** The tool that each scenario offers, and arguments for it. */
const calls: Readonly<Record<string, readonly [tool: string, args: Readonly<Record<string, unknown>>]>> = {
  tools_call: ['suite__add_numbers', { a: 5, b: 3 }],
  'sse-retry': ['suite__test_reconnection', {}],
}

const url = process.argv.at(-1)
const { tools, close } = await listMcpTools('suite', { url })
const call = calls[process.env['MCP_CONFORMANCE_SCENARIO'] ?? '']
if (call) console.log(await callMcpTool(tools, ...call))
await close()
