/*
 * The MCP server: code, agents and tools of durable-ptc for hosts that speak the Model Context Protocol, over stdio
 * (`ptc mcp`) and over Streamable HTTP (`/mcp` of `ptc serve`).
 *
 * Owns: which tools a host sees, how a request waits for durable work, and how decisions on calls are asked for.
 * Boundary: the official SDK speaks the protocol, of 2025 (`initialize`, sessions, tasks) and of 2026 (one request at
 * a time, `input_required`). All work is done by runs and named sessions, through the client library. This server
 * keeps no work of its own: it may end at any time.
 *
 * Invariants:
 * 1. Work does not depend on a connection. A request that ends, by a lost connection or by the end of this process,
 *    leaves the work running; only a request that is cancelled stops it.
 * 2. The id of work (`work-id.ts`) has all that a server needs to wait for its result, so any server of the same task
 *    queue continues the wait.
 * 3. A call that needs a decision is asked about when the client can ask a person, once for each call. A decision is
 *    by a person: an answer that the client does not give is no decision.
 * 4. What a client sends is checked before it is used: size and depth of a message, arguments, ids, answers.
 */

export { type McpEndpoint, openMcpEndpoint } from './http-endpoint.js'
export type { McpHost, OfferedTools } from './host.js'
export { serveMcpOnStdio } from './stdio.js'
