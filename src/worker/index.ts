/*
 * Worker: one worker process and its configuration.
 *
 * Owns the plugin that adds durable-ptc to a Temporal worker (`plugin/`), the resources that its activities share
 * (`resources/`), the event-loop watchdog, the takeover, and loading and checking `ptc.config.ts` (`config/`).
 * Boundary: imports neither the client nor the CLI. The caller gives a server as a `ConnectConfig`; no code here finds
 * or starts one.
 *
 * Invariants:
 * 1. A worker closes its resources in the reverse order of opening, also when its start fails.
 * 2. When one Temporal worker of the process fails, all of them end.
 * 3. Only expired sandboxes, and sandboxes with the owner label of this namespace, are removed.
 * 4. A configuration file of another user never runs unless the user names it.
 */
export { loadConfig } from '../config/load-config.js'
export type { ResolvedConfig } from '../config/parse-config.js'
export { replayHistories } from './replay.js'
export { installRuntime, type LogLevel } from './runtime.js'
export { type RunningWorker, startWorker, type StartWorkerOptions, type WorkerVersion } from './start-worker.js'

/** Whether the SDK finds credentials. Loads the SDK only now, because loading is slow. */
export async function hasCredentials(): Promise<boolean> {
  const credentials = await import('../models/anthropic/has-credentials.js')
  return credentials.hasCredentials()
}
