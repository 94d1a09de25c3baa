import { addUsage, noUsage, type RunCounts } from '../../common/runs.js'
import type { JsonValue } from '../../common/json.js'
import { workflowNames } from '../../common/names.js'
import { callNode, type CallSurroundings, pendingStatus } from './call-node.js'
import { settleByOutcome } from './cell-end.js'
import { refIn } from './elsewhere.js'
import type { FetchedValues } from './fetched-values.js'
import { answerOf, type CallDraft, type CellDraft, type RunDraft, type TurnDraft } from './draft.js'
import { agentInput, agentResult, programInput, programResult, runState } from './payload-shapes.js'
import { phaseOf } from './phase.js'
import type { ActivityRecord } from './activity-log.js'
import type { RunEnd, RunStart } from './run-log.js'
import type { CallNode, CellNode, Failure, ModelNode, RunStatus, RunTree, TurnNode } from './tree.js'
import { walk } from './walk.js'

export interface RunRecords {
  readonly start: RunStart
  readonly end: RunEnd | undefined
  readonly stuck: Failure | undefined
  readonly activities: readonly ActivityRecord[]
  readonly runIds: readonly string[]
}

export function buildTree({ start, end, stuck, activities, runIds }: RunRecords, fetched: FetchedValues): RunTree {
  const before = runState.safeParse(start.state).data
  const run = walk(activities, start.at, before)
  const program = programResult.safeParse(end?.result).data
  const onlyCell = run.cells.get(1)
  if (program && end && onlyCell) settleByOutcome(onlyCell, program.outcome, end.at)
  const around = { over: end !== undefined, onceTools: run.onceTools, fetched }
  const turns = run.turns.map((turn) => turnNode(turn, run, around))
  const { workflowType, workflowId, at: startedAt, continues, summary } = start
  const agent = agentResult.safeParse(end?.result).data
  const base = {
    workflowId,
    runId: runIds[0] ?? '',
    runIds,
    lacksBeginning: continues,
    workflowType,
    status: statusOf(end, agent?.status ?? program?.outcome.status),
    startedAt,
    endedAt: end?.at,
    backend: run.backend,
    sandbox: run.sandbox,
    model: run.model,
    failure: end ? end.failure : stuck,
    unserved: [],
    turns,
    totals: countsOf(agent ?? program) ?? count(turns, before?.counts ?? nothingYet),
    phase: phaseOf(run, activities, end),
  }
  if (workflowType === workflowNames.agent) {
    const question = agentInput.safeParse(start.input).data?.question ?? ''
    return { ...base, type: 'agent', question: continues ? summary : question, result: agent }
  }
  if (workflowType === workflowNames.program) {
    return { ...base, type: 'program', source: programInput.safeParse(start.input).data?.source ?? '', result: program }
  }
  return { ...base, type: 'other', result: end?.result as JsonValue | undefined }
}

/** A run that completed without success has failed. */
function statusOf(end: RunEnd | undefined, outcome: string | undefined): RunStatus {
  if (!end) return 'running'
  return outcome === undefined || outcome === 'answered' || outcome === 'ok' ? end.status : 'failed'
}

function turnNode(turn: TurnDraft, run: RunDraft, around: CallSurroundings): TurnNode {
  return {
    number: turn.number,
    model: turn.model && modelNode(turn.model, around.over),
    cells: [...turn.cells.map((cell) => cellNode(cell, around)), ...waitingCells(turn, run, around)],
    directCalls: callNodes(turn.directCalls, around),
  }
}

function modelNode(record: ActivityRecord, over: boolean): ModelNode {
  const { summary, scheduledAt, attempts, lastFailure, end, work } = record
  const requestBytes = work.type === 'model' ? work.requestBytes : 0
  const base = { summary, startedAt: scheduledAt, endedAt: end?.at, attempts, lastFailure, requestBytes }
  if (!end) return { ...base, status: pendingStatus(record, over) }
  if (end.type !== 'completed') return { ...base, status: 'failed', failure: end.failure }
  const reply = answerOf(record, 'model')
  if (reply) return { ...base, requestBytes: reply.conversationBytes ?? requestBytes, status: 'ok', ...reply.answer }
  return { ...base, status: 'failed', failure: { code: 'UNKNOWN', message: 'the reply cannot be read' } }
}

function cellNode(cell: CellDraft, around: CallSurroundings): CellNode {
  const { number, code, startedAt, endedAt, status, output, reported, error, steps, rebuilds, wakes, calls } = cell
  const interrupted = status === 'running' && around.over
  const printed = output.map((piece) => around.fetched.text(piece)).join('')
  return {
    number,
    code: around.fetched.text(code),
    codeRef: refIn(code),
    startedAt,
    endedAt,
    status: interrupted ? 'interrupted' : status,
    output: reported.length > printed.length ? reported : printed,
    outputRefs: output.flatMap((piece) => refIn(piece) ?? []),
    error: error ?? (interrupted ? cell.lostBecause : undefined),
    steps: steps.size,
    rebuilds,
    wakes,
    calls: callNodes(calls, around),
  }
}

/** What the model wrote and no sandbox has begun: shown at once, not only when one is open. */
function waitingCells(
  turn: TurnDraft,
  { cellsBefore, cells, rebuilds, wakes }: RunDraft,
  { over, fetched }: CallSurroundings,
): CellNode[] {
  const startedAt = turn.model?.end?.at ?? 0
  const begun = { endedAt: undefined, error: undefined, steps: 0, rebuilds, wakes, calls: [] }
  const nothing = { ...begun, output: '', outputRefs: [] }
  const status = over ? 'interrupted' : 'waiting'
  return turn.waiting.map(({ code }, place) => ({
    number: Math.max(cellsBefore, ...cells.keys()) + place + 1,
    code: fetched.text(code),
    codeRef: refIn(code),
    status,
    startedAt,
    ...nothing,
  }))
}

function callNodes(calls: ReadonlyMap<number, CallDraft>, around: CallSurroundings): CallNode[] {
  return [...calls.values()].sort((a, b) => a.index - b.index).map((call) => callNode(call, around))
}

function countsOf(counts: RunCounts | undefined): RunCounts | undefined {
  if (!counts) return undefined
  const { turns, cells, toolCalls, usage, costUsd } = counts
  return { turns, cells, toolCalls, usage, costUsd }
}

/** @param before what is counted of histories that are gone */
function count(turns: readonly TurnNode[], before: RunCounts): RunCounts {
  const cells = turns.flatMap((turn) => turn.cells)
  const calls = [...cells.flatMap((cell) => cell.calls), ...turns.flatMap((turn) => turn.directCalls)]
  const replies = turns.flatMap(({ model }) => (model?.status === 'ok' ? [model] : []))
  return {
    turns: before.turns + turns.filter(({ model }) => model).length,
    cells: before.cells + cells.filter(({ number, steps }) => number > before.cells && steps > 0).length,
    toolCalls: before.toolCalls + calls.filter(({ idempotencyKey }) => idempotencyKey !== undefined).length,
    usage: replies.reduce((sum, { usage }) => addUsage(sum, usage), before.usage),
    costUsd: replies.reduce<number | null>(
      (sum, { costUsd }) => (sum === null || costUsd === null ? null : sum + costUsd),
      before.costUsd,
    ),
  }
}

const nothingYet: RunCounts = { turns: 0, cells: 0, toolCalls: 0, usage: noUsage, costUsd: 0 }
