import { createColors } from '../text/colors.js'
import { formatCost, formatDuration } from '../../../common/text/format.js'
import { oneLine } from '../text/sanitize.js'
import { formatRequester } from '../text/waits.js'
import { formatStatus } from '../tree/status-mark.js'
import type { RunInfo } from '../../../client/run/run-info.js'
import { type StyleCell, renderColumns } from './column-table.js'

interface RunTableOptions {
  readonly now: Date
  /** Columns of the terminal; undefined: unlimited. */
  readonly width: number | undefined
  readonly color: boolean
}

const heading = ['ID', 'STATUS', 'STARTED', 'LASTED', 'COST', 'ABOUT'] as const

export function renderRunTable(runs: readonly RunInfo[], { now, width, color }: RunTableOptions): string {
  const colors = createColors(color)
  const styleCell: StyleCell = (text, row, column) => {
    if (row === 0) return colors.bold(text)
    const state = runs[row - 1]?.state
    if (column !== statusColumn || state === undefined) return text
    return colors[styleByState[state] ?? 'red'](text)
  }
  return renderColumns([heading, ...runs.map((run) => runCells(run, now))], width, styleCell)
}

const statusColumn = heading.indexOf('STATUS')

/** The colours of the status marks of `ptc show`; other statuses are red. */
const styleByState: Partial<Readonly<Record<RunInfo['state'], 'green' | 'yellow' | 'dim'>>> = {
  completed: 'green',
  running: 'yellow',
  waiting_for_approval: 'yellow',
  waiting_for_result: 'yellow',
  waiting: 'yellow',
  paused: 'yellow',
  idle: 'dim',
  cancelled: 'yellow',
  terminated: 'yellow',
}

function runCells(run: RunInfo, now: Date): readonly string[] {
  const { workflowId, state, outcome, startedAt, endedAt, costUsd, requester, summary } = run
  const lasted = formatDuration((endedAt ?? now).getTime() - startedAt.getTime())
  const ago = `${formatDuration(now.getTime() - startedAt.getTime())} ago`
  const cost = costUsd === undefined ? '' : formatCost(costUsd)
  const asked = formatRequester(requester)
  const about = asked === '' ? summary : `${asked}: ${summary}`
  return [oneLine(workflowId), formatStatus(outcome ?? state), ago, lasted, cost, oneLine(about)]
}
