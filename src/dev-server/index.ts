/*
 * Dev server: finding, starting and stopping Temporal servers for a project.
 *
 * Owns the resolution of the server to use, the Temporal CLI (found, downloaded or built), the dev server's process,
 * and its database, log and record in the state directory. Boundary: gives `src/cli` a `TemporalServer`, and
 * `src/testing` the path of a Temporal CLI. The worker and the client only get a `ConnectConfig`.
 *
 * `createLocal` of the SDK's test package is not used: it writes no log, reports no exit and no process id, and passes
 * TEMPORAL_* variables on to the server. A production installation does not load this package.
 *
 * Invariants:
 * 1. A configured server is never replaced by another one.
 * 2. At most one dev server runs on a state directory.
 * 3. A dev server ends with the process that started it, also when that process is killed (on Windows: only when it
 *    closes).
 * 4. Only this user can read the state directory. A state directory of another user is rejected.
 * 5. Dev servers listen on 127.0.0.1 only.
 */
export { findRunningDevServer } from './running-server.js'
export { resolveTemporal } from './resolve-temporal.js'
export { startDevServer, type DevServerOptions } from './start-dev-server.js'
export type { TemporalServer } from './temporal-server.js'
