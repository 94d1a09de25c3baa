import { sessionName } from '../../../client/sessions/session-name.js'
import { isNamedSessionId } from '../../../common/names.js'
import { displayOfCell } from '../../../common/run/environment.js'
import { formatBytes, formatDuration } from '../../../common/text/format.js'
import { pluralize } from '../../../common/text/text.js'
import type { CellNode } from '../../../client/run-tree/index.js'
import type { Branch } from './branch.js'
import { fileLines } from '../text/files.js'
import { callBranches } from './call-branch.js'
import { part, justify } from '../text/line.js'
import { formatSpan, joinFacts, type RenderContext } from './render-context.js'
import { formatStatus, statusMark } from './status-mark.js'
import { oneLine } from '../text/sanitize.js'
import { textBlock } from '../text/text-block.js'

const maxCodeLines = 12
const maxOutputLines = 10

/** The code, calls, output and error of a cell. */
export function cellBranch(cell: CellNode, context: RenderContext): Branch {
  const { code, language } = displayOfCell(cell)
  const { number, status, output, stderr, error, exitCode, calls, owner, rebuilds, wakes } = cell
  const files = fileLines(cell.files, cell.lostFiles, context)
  const callCount = owner?.toolCalls ?? calls.length
  const right = joinFacts(
    language === undefined ? undefined : oneLine(language),
    status === 'waiting' ? undefined : formatSpan(cell, context),
    owner ? `in ${ownerName(owner)}` : undefined,
    callCount > 0 ? pluralize(callCount, 'call') : undefined,
    rebuilds > 0 ? `sandbox rebuilt ${formatTimes(rebuilds)}` : undefined,
    wakes > 0 ? `parked ${formatTimes(wakes)}` : undefined,
    exitCode === undefined ? undefined : `exit code ${exitCode}`,
    ...(context.full ? usageFacts(cell) : []),
  )
  const state = status === 'ok' ? [] : [part(` ${formatStatus(status)}`, 'yellow')]
  const limit = context.full ? undefined : maxOutputLines
  return {
    head: (columns) => justify([statusMark(status), part(` cell ${number}`, 'bold'), ...state], right, columns),
    body: (columns) => textBlock(code, { columns, style: 'cyan', limit: context.full ? undefined : maxCodeLines }),
    children: [
      ...callBranches(calls, context),
      ...(output.trim() === ''
        ? []
        : [
            {
              head: () => [part('printed', 'dim')],
              body: (columns: number) => textBlock(output, { columns, limit, stderr }),
            },
          ]),
      ...(files.length === 0 ? [] : [{ head: () => [part('files', 'dim')], body: () => files }]),
      ...(error === undefined
        ? []
        : [
            {
              head: () => [part(formatStatus(status), 'red')],
              body: (columns: number) => textBlock(error, { columns, style: 'red', limit, keep: 'tail' }),
            },
          ]),
    ],
  }
}

function usageFacts({ usage }: CellNode): readonly string[] {
  if (usage === undefined) return []
  const { runMs, cpuMs, peakMemoryBytes } = usage
  return [
    `ran ${formatDuration(runMs)}`,
    ...(cpuMs === undefined ? [] : [`CPU ${formatDuration(cpuMs)}`]),
    ...(peakMemoryBytes === undefined ? [] : [`up to ${formatBytes(peakMemoryBytes)}`]),
  ]
}

function ownerName({ workflowId, session }: NonNullable<CellNode['owner']>): string {
  if (session !== undefined) return `session ${oneLine(session)}`
  return isNamedSessionId(workflowId) ? `session ${sessionName(workflowId)}` : `the sandbox of ${workflowId}`
}

function formatTimes(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
