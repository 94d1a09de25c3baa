/*
 * The client library (entry point `durable-ptc/client`) owns starting, following, reading and cancelling runs, and
 * named sessions.
 *
 * Boundary: Temporal's client. No worker, no sandbox, no terminal.
 *
 * Invariants:
 * 1. Every error is a PtcError with a code of the table in `src/common/errors.ts`.
 * 2. A run is its continue-as-new chain: any run id of the chain identifies the run.
 * 3. Waiting for a run survives a server that is unavailable for up to 60 s.
 * 4. A call that needs a worker does not wait forever on a queue that no worker polls: WORKER_MISSING after 5 s, for
 *    queries after 15 s.
 */

export { createPtcClient, type PtcClient, type PtcClientOptions } from './client.js'
export { createDataConverter } from './data-converter.js'
export type { ListOptions } from './run/list-runs.js'
export type * from './run-tree/tree.js'
export type { HistoryEvent, ValueReader } from './run-tree/index.js'
export type { EventsOptions } from './temporal/history-pages.js'
export type { RunHandle } from './run/run-handle.js'
export type { RunInfo } from './run/run-info.js'
export type { SessionInfo } from './sessions/session-info.js'
export type { ListSessionsOptions, Sessions } from './sessions/sessions.js'
export type { ExecuteOptions, SessionExecution } from './sessions/execute.js'
export type { SessionEnding } from './sessions/session-ending.js'
export type { SessionResult } from '../common/session.js'
export type { StartOptions } from './start/start-options.js'
export type { TreeOptions, WatchOptions } from './run/watch-run.js'
