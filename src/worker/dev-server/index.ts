export { findRunningDevServer } from './running-server.js'
export { resolveTemporal, type ResolveTemporalOptions } from './resolve-temporal.js'
export { startDevServer, type DevServerOptions } from './start-dev-server.js'
export type { TemporalServer } from './temporal-server.js'
