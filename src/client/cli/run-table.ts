import { formatDuration } from '../render/format.js'
import { oneLine } from '../render/neutralise.js'
import type { RunInfo } from '../run-info.js'
import { table } from './table.js'

export interface RunTableOptions {
  readonly now: Date
  /** Columns of the terminal; undefined: lines as long as they are. */
  readonly width: number | undefined
}

const head = ['ID', 'STATE', 'STARTED', 'LASTED', 'ABOUT'] as const

/** Runs, one a line, under a heading. */
export function runTable(runs: readonly RunInfo[], { now, width }: RunTableOptions): string {
  return table([head, ...runs.map((run) => cells(run, now))], width)
}

function cells({ workflowId, state, startTime, closeTime, summary }: RunInfo, now: Date): readonly string[] {
  const lasted = formatDuration((closeTime ?? now).getTime() - startTime.getTime())
  const ago = `${formatDuration(now.getTime() - startTime.getTime())} ago`
  return [oneLine(workflowId), state.replaceAll('_', ' '), ago, lasted, oneLine(summary)]
}
