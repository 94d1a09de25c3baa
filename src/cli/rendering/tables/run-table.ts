import { createColors } from '../text/colors.js'
import { formatDuration } from '../../../common/text/format.js'
import { oneLine } from '../text/sanitize.js'
import { formatStatus } from '../tree/status-mark.js'
import type { RunInfo } from '../../../client/run/run-info.js'
import { type StyleCell, renderColumns } from './column-table.js'

interface RunTableOptions {
  readonly now: Date
  /** Columns of the terminal; undefined: unlimited. */
  readonly width: number | undefined
  readonly color: boolean
}

const heading = ['ID', 'STATUS', 'STARTED', 'LASTED', 'ABOUT'] as const

/** A table of runs with a heading. */
export function renderRunTable(runs: readonly RunInfo[], { now, width, color }: RunTableOptions): string {
  const colors = createColors(color)
  const styleCell: StyleCell = (text, row, column) => {
    if (row === 0) return colors.bold(text)
    const status = runs[row - 1]?.status
    if (column !== statusColumn || status === undefined) return text
    return colors[styleByStatus[status] ?? 'red'](text)
  }
  return renderColumns([heading, ...runs.map((run) => runCells(run, now))], width, styleCell)
}

const statusColumn = heading.indexOf('STATUS')

/** The colours of the status marks of `ptc show`; other statuses are red. */
const styleByStatus: Partial<Readonly<Record<RunInfo['status'], 'green' | 'yellow'>>> = {
  completed: 'green',
  running: 'yellow',
  paused: 'yellow',
  cancelled: 'yellow',
  terminated: 'yellow',
}

function runCells({ workflowId, status, outcome, startedAt, endedAt, summary }: RunInfo, now: Date): readonly string[] {
  const lasted = formatDuration((endedAt ?? now).getTime() - startedAt.getTime())
  const ago = `${formatDuration(now.getTime() - startedAt.getTime())} ago`
  return [oneLine(workflowId), formatStatus(outcome ?? status), ago, lasted, oneLine(summary)]
}
