import { defined } from '../../../common/defined.js'
import type { HostedCode } from '../history/hosted-code.js'
import type { DescribedCall } from '../history/payload-schemas.js'
import { parseToolResult } from './cell-end.js'
import { type CellDraft, emptyCell, type RunDraft, type TurnDraft } from './draft.js'

interface HostedReply extends HostedCode {
  readonly calls: ReadonlyMap<string, DescribedCall>
}

/** Replays the code that Anthropic executes, from a reply. A cell belongs to the turn in which it began. */
export function applyHostedCode(run: RunDraft, turn: TurnDraft, reply: HostedReply, at: number): void {
  for (const { toolUseId, code } of reply.begun) {
    const number = Math.max(run.earlierCells, ...run.cells.keys()) + 1
    const cell: CellDraft = { ...emptyCell(number, code, at), toolUseId, isHosted: true }
    run.cells.set(number, cell)
    turn.cells.push(cell)
  }
  const running = hostedCells(run).filter(({ status }) => status === 'running')
  for (const cell of running) cell.steps.add(turn.number)
  for (const [toolUseId, called] of reply.calls) {
    const cell = running.find((each) => each.toolUseId === reply.callers.get(toolUseId))
    if (!cell) continue
    const index = cell.calls.size + 1
    const position = { turn: turn.number, cell: cell.number, index, step: turn.number, createdAt: at }
    const described = { ...called, index }
    cell.calls.set(index, { ...position, toolUseId, described, activity: undefined, delivered: undefined })
  }
  for (const { toolUseId, status, stdout, stderr, exitCode, error } of reply.ended) {
    const cell = running.find((each) => each.toolUseId === toolUseId)
    if (!cell) continue
    const isInline = typeof stderr === 'string' && stderr !== ''
    cell.output.push({ text: stdout }, { text: stderr, ...(isInline && { stderr: [[0, stderr.length]] }) })
    Object.assign(cell, { status, error, endedAt: at, measures: defined({ exitCode }) })
  }
}

/**
 * Replays the next request. It has the results of calls without an activity, and ends lost code.
 *
 * @param lost ids of server tool uses
 */
export function endHostedCode(
  run: RunDraft,
  toolResults: ReadonlyMap<string, string>,
  lost: readonly string[],
  at: number,
): void {
  for (const cell of hostedCells(run)) {
    for (const [index, call] of cell.calls) {
      const result = toolResults.get(call.toolUseId ?? '')
      if (call.activity || call.delivered || result === undefined) continue
      cell.calls.set(index, { ...call, delivered: parseToolResult(result) })
    }
    if (cell.status === 'running' && lost.includes(cell.toolUseId ?? ''))
      Object.assign(cell, { status: 'lost', error: 'its container is gone', endedAt: at })
  }
}

function hostedCells({ cells }: RunDraft): readonly CellDraft[] {
  return [...cells.values()].filter(({ isHosted }) => isHosted)
}
