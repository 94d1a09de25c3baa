/*
 * The HTTP server that `src/serve` and `src/codec-server` share.
 *
 * Owns: listening and closing, the access of web pages, tokens, and reading of bodies.
 * Boundary: node:http. It knows no path and no field of a body.
 *
 * Invariants:
 * 1. A comparison of tokens takes the same time for every token. Without a token, a server listens on the loopback
 *    interface and responds only to requests for a name of this machine.
 * 2. A web page gets nothing and causes no effect, unless its origin is the server's own or an allowed one.
 * 3. A body is limited before it is parsed. A body that is too large is not kept in memory.
 * 4. A connection without a complete request excludes no other client.
 * 5. The signal of a request is aborted when its client leaves and when the server closes. Closing is idempotent, and
 *    its time is limited.
 */
export { checkToken } from './access.js'
export { type BodyLimits, checkEncoding, readJson } from './body.js'
export { HttpError } from './http-error.js'
export { graceMs, type HttpExchange, type HttpServer, startHttpServer } from './server.js'
