export type { HistoryEvent, PendingActivity } from './event.js'
export * from './tree.js'
export { RunTreeBuilder, type RunTreeOptions } from './run-tree.js'
export { directCallEstimate, type DirectCallEstimate } from './direct-call-estimate.js'
