/*
 * `src/serve` owns the HTTP server for people who use agents: conversations, their live stream, approvals, a chat page.
 *
 * Owns: paths and bodies of requests, access control, Server-Sent Events, the stream protocol of the AI SDK, the page.
 * Boundary: the client library. It keeps no state: any number of servers may run side by side, and any may be killed.
 *
 * Invariants:
 * 1. Without a token it listens on the loopback interface, and answers only requests for a name of this machine. With a
 *    token, requests without it get only the page, which has no data.
 * 2. A web page gets nothing and causes no effect, unless its origin is the server's own or an allowed one.
 * 3. Every error is JSON with a code. Text of a model, a sandbox or a person is never part of HTML or of a script.
 * 4. A message has one id: a repeated request is not worked on again.
 * 5. A stream ends when its client leaves and when the server closes. A client that resumes gets no event twice.
 * 6. Bodies, waiting for slow clients, and the time to close have limits. A body is limited before it is parsed and
 *    walked; a connection without a complete request excludes no other client.
 */
export { type ServeOptions, startServer } from './server.js'
