/*
 * `src/cli/rendering` turns run trees, progress and tables into text for a terminal.
 *
 * Boundary: trees and plain data in, text out. It sends no request and reads no configuration.
 *
 * Invariants:
 * 1. No line is wider than the given width.
 * 2. The time is linear in the length of the text.
 * 3. Colours change no character: without them the text is the same.
 */

export { supportsColor } from './text/colors.js'
export { formatDuration } from '../../common/text/format.js'

export { type Draft, renderDraft } from './progress/draft.js'
export { ProgressWriter, type ProgressWriterOptions } from './progress/progress-writer.js'

export { describeCompaction } from './text/compaction.js'
export { describeWait, waitCommand } from './text/waits.js'
export { formatArguments } from './tree/call-branch.js'
export { renderBoxTable } from './tables/box-table.js'
export { renderTree } from './tree/render-tree.js'
export { describeUnserved } from '../../client/workers/unserved-queue.js'
