import { colorsFor } from '../render/colors.js'
import { formatDuration } from '../render/format.js'
import { oneLine } from '../render/neutralise.js'
import { inWords } from '../render/status-mark.js'
import type { RunInfo } from '../run-info.js'
import { type Paint, table } from './table.js'

export interface RunTableOptions {
  readonly now: Date
  /** Columns of the terminal; undefined: lines as long as they are. */
  readonly width: number | undefined
  readonly color: boolean
}

const head = ['ID', 'STATUS', 'STARTED', 'LASTED', 'ABOUT'] as const

/** Runs, one a line, under a heading. */
export function runTable(runs: readonly RunInfo[], { now, width, color }: RunTableOptions): string {
  const colors = colorsFor(color)
  const paint: Paint = (text, row, column) => {
    if (row === 0) return colors.bold(text)
    const status = runs[row - 1]?.status
    if (column !== statusColumn || status === undefined) return text
    return colors[styles[status] ?? 'red'](text)
  }
  return table([head, ...runs.map((run) => cells(run, now))], width, paint)
}

const statusColumn = head.indexOf('STATUS')

/** The colours of the marks that `ptc show` draws; all that is not listed went wrong. */
const styles: Partial<Readonly<Record<RunInfo['status'], 'green' | 'yellow'>>> = {
  completed: 'green',
  running: 'yellow',
  paused: 'yellow',
  cancelled: 'yellow',
  terminated: 'yellow',
}

function cells({ workflowId, status, outcome, startedAt, endedAt, summary }: RunInfo, now: Date): readonly string[] {
  const lasted = formatDuration((endedAt ?? now).getTime() - startedAt.getTime())
  const ago = `${formatDuration(now.getTime() - startedAt.getTime())} ago`
  return [oneLine(workflowId), inWords(outcome ?? status), ago, lasted, oneLine(summary)]
}
