import { addUsage, noUsage, type RunCounts } from '../../common/runs.js'
import type { JsonValue } from '../../common/json.js'
import { workflowNames } from '../../common/names.js'
import { callNode, type CallSurroundings, pendingStatus } from './call-node.js'
import { settleByOutcome } from './cell-end.js'
import { answerOf, type CallDraft, type CellDraft, type RunDraft, type TurnDraft } from './draft.js'
import { agentInput, agentResult, programInput, programResult } from './payload-shapes.js'
import { phaseOf } from './phase.js'
import type { ActivityRecord } from './activity-log.js'
import type { RunEnd, RunStart } from './run-log.js'
import type { CallNode, CellNode, ModelNode, RunTree, TurnNode } from './tree.js'
import { walk } from './walk.js'

export interface RunRecords {
  readonly start: RunStart
  readonly end: RunEnd | undefined
  readonly activities: readonly ActivityRecord[]
}

export function buildTree({ start, end, activities }: RunRecords): RunTree {
  const run = walk(activities)
  const program = programResult.safeParse(end?.result).data
  const onlyCell = run.cells.get(1)
  if (program && end && onlyCell) settleByOutcome(onlyCell, program.outcome, end.at)
  const around = { over: end !== undefined, onceTools: run.onceTools }
  const turns = run.turns.map((turn) => turnNode(turn, run, around))
  const { workflowType, workflowId, runId, at: startedAt } = start
  const agent = agentResult.safeParse(end?.result).data
  const base = {
    workflowId,
    runId,
    workflowType,
    status: end?.status ?? ('running' as const),
    startedAt,
    endedAt: end?.at,
    backend: run.backend,
    sandbox: run.sandbox,
    model: run.model,
    failure: end?.failure,
    turns,
    totals: countsOf(agent ?? program) ?? count(turns),
    phase: phaseOf(run, activities, end),
  }
  if (workflowType === workflowNames.agent) {
    return { ...base, type: 'agent', question: agentInput.safeParse(start.input).data?.question ?? '', result: agent }
  }
  if (workflowType === workflowNames.program) {
    return { ...base, type: 'program', source: programInput.safeParse(start.input).data?.source ?? '', result: program }
  }
  return { ...base, type: 'other', result: end?.result as JsonValue | undefined }
}

function turnNode(turn: TurnDraft, run: RunDraft, around: CallSurroundings): TurnNode {
  return {
    number: turn.number,
    model: turn.model && modelNode(turn.model, around.over),
    cells: [...turn.cells.map((cell) => cellNode(cell, around)), ...waitingCells(turn, run, around.over)],
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
  if (reply) return { ...base, status: 'ok', ...reply.answer }
  return { ...base, status: 'failed', failure: { code: 'UNKNOWN', message: 'the reply cannot be read' } }
}

function cellNode(cell: CellDraft, around: CallSurroundings): CellNode {
  const { number, code, startedAt, endedAt, status, output, error, steps, rebuilds, wakes, calls } = cell
  const interrupted = status === 'running' && around.over
  return {
    number,
    code,
    startedAt,
    endedAt,
    status: interrupted ? 'interrupted' : status,
    output,
    error: error ?? (interrupted ? cell.lostBecause : undefined),
    steps: steps.size,
    rebuilds,
    wakes,
    calls: callNodes(calls, around),
  }
}

/** What the model wrote and no sandbox has begun: shown at once, not only when one is open. */
function waitingCells(turn: TurnDraft, { cells, rebuilds, wakes }: RunDraft, over: boolean): CellNode[] {
  const startedAt = turn.model?.end?.at ?? 0
  const nothing = { endedAt: undefined, output: '', error: undefined, steps: 0, rebuilds, wakes, calls: [] }
  const status = over ? 'interrupted' : 'waiting'
  return turn.waiting.map(({ code }, place) => ({
    number: cells.size + place + 1,
    code,
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

function count(turns: readonly TurnNode[]): RunCounts {
  const cells = turns.flatMap((turn) => turn.cells)
  const calls = [...cells.flatMap((cell) => cell.calls), ...turns.flatMap((turn) => turn.directCalls)]
  const replies = turns.flatMap(({ model }) => (model?.status === 'ok' ? [model] : []))
  return {
    turns: turns.filter(({ model }) => model).length,
    cells: cells.filter(({ steps }) => steps > 0).length,
    toolCalls: calls.filter(({ idempotencyKey }) => idempotencyKey !== undefined).length,
    usage: replies.reduce((sum, { usage }) => addUsage(sum, usage), noUsage),
    costUsd: replies.reduce<number | null>(
      (sum, { costUsd }) => (sum === null || costUsd === null ? null : sum + costUsd),
      0,
    ),
  }
}
