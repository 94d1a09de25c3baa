import { formatDuration } from '../render/format.js'
import { oneLine } from '../render/neutralise.js'
import { cutToWidth, padEnd, widthOf } from '../render/width.js'
import type { RunInfo } from '../run-info.js'

export interface RunTableOptions {
  readonly now: Date
  /** Columns of the terminal; undefined: lines as long as they are. */
  readonly width: number | undefined
}

const head = ['ID', 'STATE', 'STARTED', 'LASTED', 'ABOUT'] as const

/** Runs, one a line, under a heading. */
export function runTable(runs: readonly RunInfo[], { now, width }: RunTableOptions): string {
  const rows = [head, ...runs.map((run) => cells(run, now))]
  const widths = head.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))))
  return rows
    .map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : padEnd(cell, widths[column] ?? 0))))
    .map((row) => row.join('  ').trimEnd())
    .map((line) => (width === undefined ? line : cutToWidth(line, width)))
    .join('\n')
}

function cells({ workflowId, state, startTime, closeTime, summary }: RunInfo, now: Date): readonly string[] {
  const lasted = formatDuration((closeTime ?? now).getTime() - startTime.getTime())
  const ago = `${formatDuration(now.getTime() - startTime.getTime())} ago`
  return [oneLine(workflowId), state.replaceAll('_', ' '), ago, lasted, oneLine(summary)]
}
