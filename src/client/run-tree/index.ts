/*
 * The run tree turns the events of a run into turns, cells and calls.
 *
 * Boundary: the input is history events, descriptions of pending activities, and a reader of external values. It sends
 * no request, and it knows neither the terminal nor the other parts of the client.
 *
 * Invariants:
 * 1. The tree is a pure function of the events and the fetched values.
 * 2. Adding an event twice changes nothing.
 * 3. No content of an event causes an error: unreadable data is left out.
 * 4. Previews of results have at most 2,000 characters. Values are fetched up to 4 MiB, for at most 10 s per store.
 * 5. The time for a tree depends on the changes since the last one, and only a little on the size of the run:
 *    activities that have ended are replayed once, and calls that have ended keep their node.
 */

export type { HistoryEvent, PendingActivity } from '../temporal/event.js'
export * from './tree.js'
export * from './waits.js'
export { parseRef } from './values/external-values.js'
export type { ValueReader } from './values/fetched-values.js'
export { describeRef, shortHash } from './values/fetched-values.js'
export { RunTreeBuilder, type RunTreeOptions } from './run-tree-builder.js'
