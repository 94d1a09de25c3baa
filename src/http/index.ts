/*
 * The shared code of the HTTP servers of this package: listening and access control.
 *
 * Owns: the addresses of this machine, the comparison of tokens, the size of a body, the end of a server.
 * Boundary: node:http. It knows no path and no body of a request.
 *
 * Invariants:
 * 1. A comparison of tokens takes the same time for every token.
 * 2. A body that is too large is not kept in memory.
 * 3. Closing a server is idempotent.
 */
export { hasToken, isLoopback } from './access.js'
export { readBody } from './body.js'
export { listen, type ListenOptions, type ListeningServer } from './listen.js'
