import { defined } from '../../../common/defined.js'
import { addUsage, zeroCounts, type RunCounts } from '../../../common/run/runs.js'
import type { BudgetPause } from '../../../common/budget/budget.js'
import { isQuestion } from '../../../common/calls/deferred-calls.js'
import { describeQuestion, questionOfWait } from '../../../common/calls/questions.js'
import { requesterOf } from '../../../common/run/requester.js'
import type { JsonValue } from '../../../common/json/json.js'
import { isNamedSessionId, workflowNames } from '../../../common/names.js'
import { attemptsOf, cachedCallNode, type CallContext, type CallNodes, pendingStatus } from './call-node.js'
import { applyProgramOutcome } from './cell-end.js'
import { parseRef } from '../values/external-values.js'
import type { FetchedValues } from '../values/fetched-values.js'
import { resultOf, type CallDraft, type CellDraft, type RunDraft, type TurnDraft } from './draft.js'
import {
  agentInput,
  agentResult,
  programInput,
  programResult,
  requestedInput,
  type RunState,
} from '../history/payload-schemas.js'
import { moveRanges, type TextRange } from '../../../common/text/text-ranges.js'
import { phaseOf } from './phase.js'
import type { ActivityRecord } from '../history/activity-record.js'
import type { RunEnd, RunStart } from '../history/execution-log.js'
import type { RunEventLog } from '../history/run-event-log.js'
import type { CallWait, RunWait } from '../waits.js'
import type { CallNode, CellNode, CellOwner, CompactionNode, ModelNode, RunStatus, RunTree, TurnNode } from '../tree.js'

/** Caches that trees of the same run share. */
interface TreeCaches {
  readonly fetched: FetchedValues
  /** Nodes of calls that have ended. A new cache is needed when more values were fetched. */
  readonly callNodes: CallNodes
}

interface RunRecords extends Pick<
  RunEventLog,
  'end' | 'taskFailure' | 'paused' | 'activities' | 'settledCount' | 'runIds'
> {
  readonly start: RunStart
  readonly carriedState: RunState | undefined
  readonly namespace: string
}

/** @param run the replayed activities; this function changes it */
export function buildTree(
  { start, end, taskFailure, paused, activities, settledCount, runIds, carriedState, namespace }: RunRecords,
  run: RunDraft,
  { fetched, callNodes: cache }: TreeCaches,
): RunTree {
  const program = programResult.safeParse(end?.result).data
  const onlyCell = run.cells.get(1)
  if (program && end && onlyCell) applyProgramOutcome(onlyCell, program.outcome, end.at)
  const context = {
    isRunEnded: end !== undefined,
    tools: run.tools,
    namespace,
    workflowId: start.workflowId,
    fetched,
    cache,
  }
  const turns = run.turns.map((turn) => turnNode(turn, run, context))
  const { workflowType, workflowId, at: startedAt, isContinuation, summary } = start
  const agent = agentResult.safeParse(end?.result).data
  const requester = requesterOf(requestedInput.safeParse(start.input).data?.context)
  const base = {
    workflowId,
    runId: runIds[0] ?? '',
    runIds,
    lacksBeginning: isContinuation,
    workflowType,
    status: statusOf(end, agent?.status ?? program?.outcome.status),
    startedAt,
    endedAt: end?.at,
    backend: run.backend,
    sandbox: run.sandbox,
    model: run.model,
    failure: end ? end.failure : taskFailure,
    unserved: [],
    waitsFor: end ? [] : waitsOf(turns, paused),
    ...defined({ requester }),
    ...(run.files.size > 0 && { files: [...run.files.values()] }),
    turns,
    compactions: run.compactions.map((record) => compactionNode(record, context.isRunEnded)),
    totals: countsOf(agent ?? program) ?? countNodes(turns, run, carriedState?.counts ?? zeroCounts),
    phase: phaseOf(run, activities, settledCount, end, paused !== undefined),
  }
  if (workflowType === workflowNames.agent || workflowType === workflowNames.conversation) {
    const question = agentInput.safeParse(start.input).data?.question ?? summary
    return { ...base, type: 'agent', question: isContinuation ? summary : question, result: agent }
  }
  if (workflowType === workflowNames.program) {
    return { ...base, type: 'program', source: programInput.safeParse(start.input).data?.source ?? '', result: program }
  }
  return { ...base, type: 'other', result: end?.result as JsonValue | undefined }
}

/** Returns the waits of a run for something from outside, the oldest first. */
function waitsOf(turns: readonly TurnNode[], paused: BudgetPause | undefined): readonly RunWait[] {
  const calls = turns.flatMap(({ cells, directCalls }) => [...cells.flatMap((cell) => cell.calls), ...directCalls])
  const ofBudget: readonly RunWait[] = paused ? [{ type: 'budget', ...paused }] : []
  return [...calls.flatMap(callWait), ...ofBudget].toSorted((one, other) => one.since - other.since)
}

function callWait(call: CallNode): readonly CallWait[] {
  const { tool, arguments: args, position, deferred, approval, question: asked } = call
  const wait = deferred ?? approval ?? asked
  if (!wait) return []
  const { since, expiresAt, completionToken: token } = wait
  const type = approval ? 'approval' : asked || isQuestion(args) ? 'answer' : 'result'
  const summary = asked ? describeQuestion(asked) : call.summary
  const question = asked && questionOfWait(asked)
  return [{ type, tool, summary, arguments: args, position, ...defined({ question }), since, expiresAt, token }]
}

/** Returns the status of a run. A run that completed without success counts as failed. */
function statusOf(end: RunEnd | undefined, outcome: string | undefined): RunStatus {
  if (!end) return 'running'
  return outcome === undefined || outcome === 'answered' || outcome === 'ok' ? end.status : 'failed'
}

function turnNode(turn: TurnDraft, run: RunDraft, context: CallContext): TurnNode {
  const input = turn.model?.input
  return {
    number: turn.number,
    ...(input?.type === 'model' && input.planStep !== undefined && { planStep: input.planStep }),
    ...(input?.type === 'model' && input.message !== undefined && { message: input.message }),
    model: turn.model && modelNode(turn.model, context.isRunEnded),
    cells: [...turn.cells.map((cell) => cellNode(cell, context)), ...waitingCells(turn, run, context)],
    directCalls: callNodes(turn.directCalls, context),
  }
}

function modelNode(record: ActivityRecord, isRunEnded: boolean): ModelNode {
  const { summary, end, input, nextAttemptAt } = record
  const requestBytes = input.type === 'model' ? input.requestBytes : 0
  const base = { summary, ...attemptsOf(record), requestBytes, ...(!end && defined({ nextAttemptAt })) }
  if (!end) return { ...base, status: pendingStatus(record, isRunEnded) }
  if (end.type !== 'completed') return { ...base, status: 'failed', failure: end.failure }
  const result = resultOf(record, 'model')
  if (result === undefined) return { ...base, status: 'failed', failure: unreadableReply }
  const { reply, conversationBytes } = result
  return { ...base, requestBytes: conversationBytes, status: 'ok', ...reply }
}

function compactionNode(record: ActivityRecord, isRunEnded: boolean): CompactionNode {
  const { end, input } = record
  const { turn, tokens: tokensBefore } = input.type === 'compaction' ? input : { turn: 0, tokens: 0 }
  const base = { turn, tokensBefore, ...attemptsOf(record) }
  if (!end) return { ...base, status: pendingStatus(record, isRunEnded) }
  if (end.type !== 'completed') return { ...base, status: 'failed', failure: end.failure }
  const result = resultOf(record, 'compaction')
  if (result === undefined) return { ...base, status: 'failed', failure: unreadableReply }
  const { tokens: tokensAfter, shortened, summarized, problem } = result
  return { ...base, status: 'ok', tokensAfter, shortened, summarized, ...defined({ problem }) }
}

const unreadableReply = { code: 'UNKNOWN', message: 'the reply cannot be read' } as const

function cellNode(cell: CellDraft, context: CallContext): CellNode {
  const { number, code, language, startedAt, endedAt, status, liveOutput, error, steps, calls } = cell
  const { toolUseId, owner, rebuilds, wakes, measures, files, lostFiles } = cell
  const isInterrupted = status === 'running' && context.isRunEnded
  const { output, stderr } = printedText(cell, context)
  return {
    number,
    ...defined({ toolUse: toolUseId, language }),
    code: context.fetched.text(code),
    codeRef: parseRef(code),
    startedAt,
    endedAt,
    status: isInterrupted ? 'interrupted' : status,
    output: output + (isInterrupted ? '' : liveOutput),
    stderr,
    outputRefs: cell.output.flatMap(({ text }) => parseRef(text) ?? []),
    error: error ?? (isInterrupted ? cell.lossReason : undefined),
    ...measures,
    steps: steps.size,
    rebuilds,
    wakes,
    calls: callNodes(calls, context, toolUseId),
    ...(files.length > 0 && { files }),
    ...(lostFiles.length > 0 && { lostFiles }),
    ...(owner && { owner: ownerOf(owner) }),
  }
}

/** Joins the output of the steps. The streams of text that was not fetched are unknown. */
function printedText({ output, reported }: CellDraft, { fetched }: CallContext): Pick<CellNode, 'output' | 'stderr'> {
  let printed = ''
  const ranges: TextRange[] = []
  for (const { text, stderr = [] } of output) {
    if (fetched.has(text)) ranges.push(...moveRanges(stderr, printed.length))
    printed += fetched.text(text)
  }
  return reported.text.length > printed.length
    ? { output: reported.text, stderr: reported.stderr ?? [] }
    : { output: printed, stderr: ranges }
}

/** Returns the cells of the reply that no sandbox has started, to show them before a sandbox is open. */
function waitingCells(
  turn: TurnDraft,
  { earlierCells, cells, rebuilds, wakes }: RunDraft,
  { isRunEnded, fetched }: CallContext,
): CellNode[] {
  const startedAt = turn.model?.end?.at ?? 0
  const notStarted = { endedAt: undefined, error: undefined, steps: 0, rebuilds, wakes, calls: [] }
  const empty = { ...notStarted, output: '', stderr: [], outputRefs: [] }
  const status = isRunEnded ? 'interrupted' : 'waiting'
  return turn.pendingCells.map(({ code, language, toolUseId }, position) => ({
    toolUse: toolUseId,
    ...defined({ language }),
    number: Math.max(earlierCells, ...cells.keys()) + position + 1,
    code: fetched.text(code),
    codeRef: parseRef(code),
    status,
    startedAt,
    ...empty,
  }))
}

/** @param codeUse id of the tool use with the code that made the calls */
function callNodes(calls: ReadonlyMap<number, CallDraft>, context: CallContext, codeUse?: string): CallNode[] {
  return [...calls.values()].sort((a, b) => a.index - b.index).map((call) => cachedCallNode(call, context, codeUse))
}

function countsOf(counts: RunCounts | undefined): RunCounts | undefined {
  if (!counts) return undefined
  const { turns, cells, toolCalls, usage, costUsd, subagents } = counts
  return { turns, cells, toolCalls, usage, costUsd, ...defined({ subagents }) }
}

/** @param earlierCounts counts of the executions that the server no longer has */
function countNodes(
  turns: readonly TurnNode[],
  { compactions, samplings }: Pick<RunDraft, 'compactions' | 'samplings'>,
  earlierCounts: RunCounts,
): RunCounts {
  const summaries = compactions.flatMap((record) => resultOf(record, 'compaction')?.summary ?? [])
  const sampled = samplings.flatMap((record) => resultOf(record, 'sampling') ?? [])
  const cells = turns.flatMap((turn) => turn.cells)
  const calls = [...cells.flatMap((cell) => cell.calls), ...turns.flatMap((turn) => turn.directCalls)]
  const replies = [...turns.flatMap(({ model }) => (model?.status === 'ok' ? [model] : [])), ...summaries, ...sampled]
  return {
    turns: earlierCounts.turns + turns.filter(({ model }) => model).length,
    cells: earlierCounts.cells + cells.filter((cell) => cell.number > earlierCounts.cells && wasExecuted(cell)).length,
    toolCalls: earlierCounts.toolCalls + calls.filter(wasStarted).length + sum(cells.map(callsInNamedSession)),
    usage: replies.reduce((sum, { usage }) => addUsage(sum, usage), earlierCounts.usage),
    costUsd: replies.reduce<number | null>(
      (sum, { costUsd }) => (sum === null || costUsd === null ? null : sum + costUsd),
      earlierCounts.costUsd,
    ),
  }
}

function ownerOf({ workflowId, session, toolCalls }: CellOwner): CellOwner {
  return { workflowId, ...(session !== undefined && { session }), toolCalls }
}

function wasExecuted({ steps, owner }: CellNode): boolean {
  return steps > 0 || owner !== undefined
}

/** Counts the calls in a named session. Calls in the session of the parent count for the parent. */
function callsInNamedSession({ owner }: CellNode): number {
  return owner && isNamedSessionId(owner.workflowId) ? (owner.toolCalls ?? 0) : 0
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

/** Returns false for a refused call, which has no activity. */
function wasStarted({ idempotencyKey, attempts }: CallNode): boolean {
  return idempotencyKey !== undefined || attempts > 0
}
