/*
 * The plugin (entry point `durable-ptc/worker`) adds durable-ptc to Temporal's own Worker, Client, bundler and
 * replayer.
 *
 * Owns: the task queues of a process and their workers, the options that durable-ptc adds, and the bundle of a user's
 * workflows with the engine's. Boundary: Temporal's plugin interfaces; `resources/` has what the activities share.
 *
 * Invariants:
 * 1. `ptc worker` is a worker with this plugin and has no other workers.
 * 2. Resources are opened when the user's worker is created, and closed when it has ended.
 * 3. When one Temporal worker of the process fails, all of them end.
 * 4. An option that the user has set stays unchanged.
 */
export { PtcPlugin, type PtcPluginOptions } from './ptc-plugin.js'
export { histogramBuckets } from '../../common/telemetry/metric-table.js'
export type { HealthCheck, WorkerHealth } from '../health/health.js'
export type { PtcConfig } from '../../config/define-config.js'
export type { Role } from '../../common/names.js'
