export type { HistoryEvent, PendingActivity } from './event.js'
export type * from './tree.js'
export { RunTreeBuilder, type RunTreeOptions } from './run-tree.js'
