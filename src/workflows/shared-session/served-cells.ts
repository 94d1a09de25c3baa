/*
 * Cells of other runs, which the session of this workflow executes.
 *
 * Owns: which cells other runs have sent, and the replies to them.
 * Boundary: `CellOwner` executes a cell after all earlier cells. `shared-session.ts` is the other side.
 *
 * Invariants:
 * 1. A cell is executed once, however often its message arrives.
 * 2. An executed or refused cell has a reply before this workflow ends, because the handler of its signal ends only
 *    after the reply. The reply is sent again for a `check`. So a run that waits gets a reply, or one of its signals
 *    fails.
 * 3. A run that has ended gets no reply, and that changes nothing.
 * 4. A new cell of a run interrupts a cell that another execution of the run has left behind: after a reset, a run no
 *    longer knows its cell.
 */

import { CancellationScope, defineSignal, getExternalWorkflowHandle } from '@temporalio/workflow'
import { defined } from '../../common/defined.js'
import { cellMessageSignal, cellReplySignal } from '../../common/names.js'
import type { CellMessage, CellReply, CellResult, ExecuteCell } from '../../common/session/shared-cells.js'
import { hasText } from '../cell/cell-result.js'
import { problemOfCellLanguage } from '../cell/cell-language.js'
import type { CodeRuntime } from '../cell/code-runtime.js'
import { runCell, runOrDrop } from '../cell/run-cell.js'
import { labelsMember } from '../calls/data-flow/data-flow.js'
import { failureOf, handleSignal, rejection } from '../temporal/failures.js'

export interface CellOwner {
  /** @throws ApplicationFailure when the cell is refused; failures of the engine; CancelledFailure */
  execute(cell: ExecuteCell): Promise<CellResult>
  interrupt(id: string): void
}

export type EndedCell = Extract<CellResult, { type: 'ended' }>

/** Replies that are kept for a `check`: the reply to the latest cell of a run may be lost after a reset. */
const keptReplies = 20

const cellMessage = defineSignal<[CellMessage]>(cellMessageSignal)

/** Serves the cells of other runs from now on. */
export function serveCells(owner: CellOwner): void {
  /** Replies by the id of the cell. Undefined: the cell has not ended, or its reply is no longer kept. */
  const replies = new Map<string, CellResult | undefined>()
  const inProgress = new Map<string, ExecuteCell>()

  /** Interrupts a cell from an execution of the run before a reset, or from a terminated one: invariant 4. */
  const interruptAbandoned = ({ requester, requesterRunId }: ExecuteCell): void => {
    for (const [id, cell] of inProgress)
      if (cell.requester === requester && cell.requesterRunId !== requesterRunId) owner.interrupt(id)
  }
  handleSignal(cellMessage, async (message) => {
    const { id } = message
    if (message.type === 'interrupt') return replies.has(id) ? undefined : owner.interrupt(id)
    if (inProgress.has(id)) return // invariant 1
    if (message.type === 'check' || replies.has(id))
      return reply(message.requester, { id, result: replies.get(id) ?? unknownCell })
    interruptAbandoned(message)
    inProgress.set(id, message)
    const result = await executeFor(owner, message)
    inProgress.delete(id)
    replies.set(id, result)
    const [oldest] = [...replies].filter(([, kept]) => kept !== undefined).slice(0, -keptReplies)
    if (oldest) replies.set(oldest[0], undefined)
    await reply(message.requester, { id, result }) // invariant 2
  })
}

async function executeFor(owner: CellOwner, cell: ExecuteCell): Promise<CellResult> {
  try {
    return await owner.execute(cell)
  } catch (thrown) {
    return { type: 'failed', ...failureOf(thrown) }
  }
}

const unknownCell: CellResult = {
  type: 'failed',
  code: 'SESSION_CLOSED',
  message: 'the session does not know how the code ended',
}

/** Sends a reply, also to a run that no longer waits for the cell: the run ignores it. */
function reply(requester: string, cellReply: CellReply): Promise<void> {
  const handle = getExternalWorkflowHandle(requester)
  return CancellationScope.nonCancellable(() => handle.signal<[CellReply]>(cellReplySignal, cellReply)).catch(
    () => undefined, // the run has ended (invariant 3)
  )
}

/**
 * Executes a cell of another run in a session: with its tools, and without continue-as-new.
 *
 * @param scope ends the cell when it is cancelled
 * @throws ApplicationFailure when the cell is refused; CancelledFailure, and failures of the engine
 */
export async function runServedCell(
  scope: CancellationScope,
  runtime: CodeRuntime,
  { requester, source, cellLanguage, tools, outputCharacters, labels = {} }: ExecuteCell,
): Promise<Pick<EndedCell, 'end' | 'output' | 'kept' | 'returned' | 'toolCalls' | 'labels'>> {
  const { run } = runtime
  const problem = problemOfCellLanguage(run.config, cellLanguage)
  if (problem !== undefined) throw rejection('RUN_INPUT_INVALID', problem)
  const toolCalls = run.counts.toolCalls
  const earlier = run.files.returned.map(({ path }) => path)
  const isLimited = tools !== undefined && [...run.tools.keys()].some((name) => !tools.includes(name))
  const own: CodeRuntime = {
    ...runtime,
    labelsOfAuthor: labels,
    allowedTools: isLimited ? new Set(tools) : undefined,
    outputCharacters,
    outputReader: 'model',
    continuation: undefined,
  }
  run.progress.servedRun = requester
  try {
    const { end, output, kept } = await runOrDrop(scope, own, () => runCell(own, { source, language: cellLanguage }))
    const ofOutput = runtime.calls.dataFlow.ofSession
    const ended = { end, output, ...defined({ kept }) }
    const returned = run.files.returned.filter(({ path }) => !earlier.includes(path))
    const labelled = hasText(ended) || returned.length > 0 ? labelsMember(ofOutput) : {}
    return {
      ...ended,
      ...(returned.length > 0 && { returned }),
      toolCalls: run.counts.toolCalls - toolCalls,
      ...labelled,
    }
  } finally {
    run.progress.servedRun = undefined
  }
}
