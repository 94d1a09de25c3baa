/*
 * `src/serve` owns the HTTP server for people who use agents: conversations, their live stream, approvals, a chat page.
 *
 * Owns: paths and bodies of requests, Server-Sent Events, the stream protocol of the AI SDK, the page.
 * Boundary: `src/http` serves it, with access control; it uses the client library. It keeps no state: any number of
 * servers may run side by side, and any may be killed.
 *
 * Invariants:
 * 1. With a token, requests without it get only the page, which has no data.
 * 2. Every error is JSON with a code. Text of a model, a sandbox or a person is never part of HTML or of a script.
 * 3. A message has one id: a repeated request is not worked on again.
 * 4. A stream ends when its client leaves and when the server closes. A client that resumes gets no event twice.
 * 5. Bodies have limits before they are parsed and walked. Waiting for slow clients has a limit.
 */
export { openMcpEndpoint } from './mcp/index.js'
export { type ServeOptions, startServer } from './server.js'
