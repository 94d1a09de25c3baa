import {
  addFiles,
  resultOf,
  copyRunDraft,
  createRunDraft,
  isDeferred,
  type CallDraft,
  type CellDraft,
  emptyCell,
  emptyTurn,
  type RunDraft,
  toolsOf,
  type TurnDraft,
} from './draft.js'
import { applyStepResult, closeOpenCell, endCell, parseToolResult } from './cell-end.js'
import { externalizableString, isSameText } from '../values/external-values.js'
import { applyHostedCode, endHostedCode } from './replay-hosted-code.js'
import { pathInRun } from '../../../common/session/held-sessions.js'
import type { ActivityRecord } from '../history/activity-record.js'
import { measuresOf } from '../../../common/calls/outcomes.js'
import { approvalKey } from '../../../common/calls/approvals.js'
import { questionKey } from '../../../common/calls/questions.js'
import type { CallPosition } from '../../../common/calls/calls.js'
import type { RunState } from '../history/payload-schemas.js'
import type { Externalizable } from '../../../common/json/external-value.js'
import type { ActivityInput, DecisionInput } from '../history/activity-payloads.js'

type ExecuteStepInput = Extract<ActivityInput, { type: 'step' }>

/**
 * Replays a run's activities in the order in which they were scheduled. Activities that can't change are replayed once.
 */
export class ActivityReplay {
  readonly #settled: RunDraft
  #settledCount = 0

  /**
   * @param carriedState the state that continue-as-new carried over, when the server no longer has the first executions
   */
  constructor(startedAt: number, carriedState: RunState | undefined) {
    this.#settled = createRunDraft(startedAt, carriedState)
  }

  /** @param settledCount number of the first activities that no later event changes; it never decreases */
  run(activities: readonly ActivityRecord[], settledCount: number): RunDraft {
    for (const record of activities.slice(this.#settledCount, settledCount)) applyActivity(this.#settled, record)
    this.#settledCount = settledCount
    const run = copyRunDraft(this.#settled)
    for (const record of activities.slice(settledCount)) applyActivity(run, record)
    return run
  }
}

function applyActivity(run: RunDraft, record: ActivityRecord): void {
  const { input } = record
  switch (input.type) {
    case 'config': {
      const config = resultOf(record, 'config')?.config
      run.backend = config?.backend
      run.model = config?.model.name
      if (config) run.tools = toolsOf(config)
      addFiles(run, config?.files?.uploads ?? [])
      return
    }
    case 'model':
      return applyModelTurn(run, record, input)
    case 'compaction':
      run.compactions.push(record)
      return
    case 'sampling':
      run.samplings.push(record)
      return
    case 'open':
      return applySessionOpen(run, record, input.reason)
    case 'park':
      // The sandbox was parked as a checkpoint, so the next step resumes it. Without a checkpoint, the next opening
      // counts as a rebuild.
      if (resultOf(record, 'park')?.isCheckpointed === true) (runningCell(run) ?? run).wakes += 1
      return
    case 'step':
      return applyStep(run, record, input)
    case 'files':
      return applyArtifacts(run, record)
    case 'upload':
      return addFiles(run, input.files)
    case 'tool':
      return applyToolCall(run, record, input)
    case 'approval':
      return changeCall(callsBeside(run, input.request.position), input.request.position, { approval: record })
    case 'question':
      return changeCall(callsBeside(run, input.asked.position), input.asked.position, { question: record })
    case 'compensation':
      return applyCompensation(run, record, input.position)
    case 'check':
      return applyCheck(run, record, input.position)
    case 'decision':
      return applyDecision(run, input)
    case 'shared_cell':
      if (!run.cells.has(input.cell))
        startCell(run, input.cell, { code: input.source, language: input.cellLanguage }, record.scheduledAt)
      return setOwner(run, input.cell, {
        workflowId: input.owner,
        session: input.session,
        cellId: input.id,
        toolCalls: undefined,
      })
    case 'cell_reply':
      return applyCellReply(run, input, record.scheduledAt)
    case 'close':
    case 'other':
  }
}

function applyModelTurn(run: RunDraft, record: ActivityRecord, input: Extract<ActivityInput, { type: 'model' }>): void {
  const previousTurn = run.turns.at(-1)
  // A fallback answers the turn, because the previous model failed.
  if (previousTurn?.number === input.turn) run.turns.pop()
  else if (previousTurn) closeTurn(previousTurn, input.toolResults, record.scheduledAt)
  endHostedCode(run, input.toolResults, input.lostCode, record.scheduledAt)
  const reply = resultOf(record, 'model')
  const turn: TurnDraft = { ...emptyTurn(input.turn), model: record, pendingCells: reply?.codeToolUses ?? [] }
  run.turns.push(turn)
  if (reply?.hosted) {
    const { hosted, calls } = reply
    applyHostedCode(run, turn, { ...hosted, calls }, record.end?.at ?? record.scheduledAt)
  }
  for (const [toolUseId, described] of reply?.calls ?? []) {
    if (reply?.hosted?.callers.has(toolUseId)) continue
    const { index } = described
    const position = { turn: turn.number, cell: 0, index, step: 0 }
    const createdAt = record.end?.at ?? record.scheduledAt
    turn.directCalls.set(index, {
      ...position,
      createdAt,
      toolUseId,
      described,
      activity: undefined,
      delivered: undefined,
    })
  }
}

/** Ends the cells and calls that the activities left open, by the tool results of the next turn. */
function closeTurn(turn: TurnDraft, toolResults: ReadonlyMap<string, string>, at: number): void {
  turn.pendingCells = []
  for (const cell of turn.cells) if (!cell.isHosted) closeOpenCell(cell, toolResults.get(cell.toolUseId ?? ''), at)
  for (const [index, call] of turn.directCalls) {
    if (call.activity && !isWaiting(call)) continue
    turn.directCalls.set(index, { ...call, delivered: parseToolResult(toolResults.get(call.toolUseId ?? '')) })
  }
}

/** Returns true when only the result of the turn has the end of the call: it has expired, or was interrupted. */
function isWaiting(call: CallDraft): boolean {
  return isDeferred(call) && !call.check && !call.delivered
}

function applySessionOpen(run: RunDraft, record: ActivityRecord, reason: 'new' | 'unpark' | 'rebuild'): void {
  const opened = resultOf(record, 'open')
  run.backend = opened?.backend ?? run.backend
  run.sandbox = opened?.description ?? run.sandbox
  const counters = runningCell(run) ?? run
  if (reason === 'rebuild') counters.rebuilds += 1
  if (reason === 'unpark') counters.wakes += 1
}

function applyStep(run: RunDraft, record: ActivityRecord, { step }: ExecuteStepInput): void {
  const isFile = step?.input.type === 'file'
  if (step?.input.type === 'file' && !step.input.inCell) return applyFileStep(run, record, step.input.path)
  if (step?.input.type === 'cell' && !run.cells.has(step.input.cell)) {
    const { cell, source: code, language } = step.input
    startCell(run, cell, { code, language }, record.scheduledAt)
  }
  if (step?.input.type === 'results') applyResults(run, step.input.results, record.scheduledAt)
  const cell = runningCell(run)
  if (!cell) return
  if (step) cell.steps.add(step.number)
  if (record.end && record.end.type !== 'completed') cell.lossReason = record.end.failure.message
  cell.liveOutput = record.end ? '' : (record.printed ?? '')
  const result = resultOf(record, 'step')?.result
  const at = record.end?.at
  if (!result || at === undefined) return
  // Such a step ends the cell only when it loses the sandbox. A call whose file could not be written has failed.
  if (isFile && (result.type === 'completed' || result.type === 'failed')) return
  applyStepResult(cell, result, at)
  if (result.type !== 'suspended') return
  const turn = run.turns.at(-1)?.number ?? 0
  for (const described of result.calls) {
    const position = { turn, cell: cell.number, index: described.index, step: step?.number ?? 0, createdAt: at }
    const noOutcome = { toolUseId: undefined, described, activity: undefined, delivered: undefined }
    cell.calls.set(described.index, { ...position, ...noOutcome })
  }
}

/** Applies a step that writes a part of a file between two cells. */
function applyFileStep(run: RunDraft, record: ActivityRecord, path: string): void {
  const result = resultOf(record, 'step')?.result
  if (result?.type === 'failed') run.lostUploads = [...run.lostUploads, { path, problem: result.error }]
}

/** Applies the artifacts of the last cell, which has ended. */
function applyArtifacts(run: RunDraft, record: ActivityRecord): void {
  const stored = resultOf(record, 'files')
  const cell = [...run.cells.values()].at(-1)
  if (!stored || !cell) return
  cell.files = stored.files
  cell.lostFiles = [...cell.lostFiles, ...stored.lost]
  addFiles(run, stored.files)
}

function startCell(
  run: RunDraft,
  number: number,
  { code, language }: Pick<CellDraft, 'code' | 'language'>,
  startedAt: number,
): void {
  const previousCell = runningCell(run)
  if (previousCell) closeOpenCell(previousCell, undefined, startedAt)
  const turn = currentTurn(run)
  const index = turn.pendingCells.findIndex((use) => isSameText(use.code, code))
  const use = turn.pendingCells[index]
  // Earlier cells of the reply were rejected without being executed.
  turn.pendingCells = turn.pendingCells.slice(index + 1)
  const { rebuilds, wakes } = run
  const cell: CellDraft = {
    ...emptyCell(number, code, startedAt),
    language,
    toolUseId: use?.toolUseId,
    rebuilds,
    wakes,
    lostFiles: run.lostUploads,
  }
  run.lostUploads = []
  run.rebuilds = 0
  run.wakes = 0
  run.cells.set(number, cell)
  turn.cells.push(cell)
}

/** Sets the owner of a cell. An earlier owner may have ended before it accepted the cell. */
function setOwner(run: RunDraft, number: number, owner: NonNullable<CellDraft['owner']>): void {
  const cell = run.cells.get(number)
  if (cell) cell.owner = owner
}

function applyCellReply(
  run: RunDraft,
  { id, result }: Extract<ActivityInput, { type: 'cell_reply' }>,
  at: number,
): void {
  const cell = [...run.cells.values()].find(({ owner }) => owner?.cellId === id)
  if (!cell?.owner || cell.status !== 'running') return
  // The run may try the next session, or its next turn has the reason why there was none.
  if (result.type === 'failed') {
    cell.lossReason = result.message
    return
  }
  const { end, output, toolCalls, kept = { files: [], lost: [] }, returned = [] } = result
  const { session } = cell.owner
  cell.files = kept.files
  cell.lostFiles = kept.lost
  // The files of a session that others use are among the files of that session.
  if (session !== undefined)
    addFiles(run, [...kept.files.map((file) => ({ ...file, path: pathInRun(session, file.path) })), ...returned])
  cell.owner = { ...cell.owner, toolCalls }
  cell.output.push(...(typeof output === 'string' ? [output] : output.parts.filter(isText)).map((text) => ({ text })))
  cell.measures = measuresOf(end)
  endCell(cell, end.status, end.error, at)
}

function isText(part: unknown): part is Externalizable<string> {
  return externalizableString.safeParse(part).success
}

type Results = Extract<NonNullable<ExecuteStepInput['step']>['input'], { type: 'results' }>['results']

/** Applies results. A result belongs to the running cell, or to an earlier cell that ended while its call was open. */
function applyResults(run: RunDraft, results: Results, deliveredAt: number): void {
  const cells = [...run.cells.values()].toReversed()
  for (const { index, outcome } of results) {
    const cell = cells.find(({ calls }) => calls.has(index) && calls.get(index)?.delivered === undefined)
    const call = cell?.calls.get(index)
    if (call) cell?.calls.set(index, { ...call, delivered: outcome, deliveredAt })
  }
}

function applyToolCall(
  run: RunDraft,
  record: ActivityRecord,
  { call }: Extract<ActivityInput, { type: 'tool' }>,
): void {
  const { turn, cell, index } = call.position
  const file = resultOf(record, 'tool')?.file
  if (file) addFiles(run, [file])
  const calls = callsBeside(run, call.position)
  if (!calls) return
  const draft = calls.get(index)
  if (draft) {
    // A call that has asked is executed again.
    const { question: _, ...asked } = draft
    calls.set(index, { ...asked, activity: record })
    return
  }
  const position = { turn, cell, index, step: 0, createdAt: record.scheduledAt }
  calls.set(index, { ...position, toolUseId: undefined, described: undefined, activity: record, delivered: undefined })
}

/** Returns the calls of the cell of a call, or the direct calls of the latest turn. */
function callsBeside(run: RunDraft, { cell }: CallPosition): Map<number, CallDraft> | undefined {
  return cell === 0 ? currentTurn(run).directCalls : run.cells.get(cell)?.calls
}

/** Adds a record to a call. */
function changeCall(
  calls: Map<number, CallDraft> | undefined,
  { index }: CallPosition,
  change: Pick<CallDraft, 'approval' | 'question' | 'compensation' | 'check'>,
): void {
  const call = calls?.get(index)
  if (call) calls?.set(index, { ...call, ...change })
}

/** Applies a compensation, which comes after the turn of its call. */
function applyCompensation(run: RunDraft, compensation: ActivityRecord, position: CallPosition): void {
  const ofTurn = run.turns.find(({ number }) => number === position.turn)
  const calls = position.cell === 0 ? ofTurn?.directCalls : callsBeside(run, position)
  changeCall(calls, position, { compensation })
}

function applyCheck(run: RunDraft, check: ActivityRecord, position: CallPosition): void {
  const calls = callsBeside(run, position)
  const call = calls?.get(position.index)
  // An invalid result of a deferred call changes nothing: the call still waits.
  if (call && isDeferred(call) && check.end?.type !== 'completed') return
  changeCall(calls, position, { check })
}

/** Applies a decision. The caller of a deferred call gets a failure later. A denial is an outcome in the history. */
function applyDecision(run: RunDraft, decision: DecisionInput): void {
  const { idempotencyKey, result, at } = decision
  const turn = run.turns.at(-1)
  for (const calls of [turn?.directCalls, ...[...run.cells.values()].map((cell) => cell.calls)]) {
    for (const [index, call] of calls ?? []) {
      const isApproval = call.approval?.input.type === 'approval'
      const ofApproval = isApproval && approvalKey(call.approval.input.request.idempotencyKey) === idempotencyKey
      const ofResult =
        call.activity?.input.type === 'tool' && call.activity.input.call.idempotencyKey === idempotencyKey
      if (isQuestionKeyOf(call, idempotencyKey)) {
        const { question: _, ...answered } = call
        calls?.set(index, { ...answered, decision })
        return
      }
      if (!ofApproval && !ofResult) continue
      const failed = ofResult && result.type === 'failure'
      const outcome = failed && {
        delivered: { status: 'tool_error', message: result.message } as const,
        deliveredAt: at,
      }
      calls?.set(index, { ...call, decision, ...outcome })
      return
    }
  }
}

function isQuestionKeyOf({ question }: CallDraft, key: string): boolean {
  if (question?.input.type !== 'question') return false
  const { idempotencyKey, number } = question.input.asked
  return questionKey(idempotencyKey, number) === key
}

/** Returns the latest turn. A program has only turn 0. */
function currentTurn(run: RunDraft): TurnDraft {
  const last = run.turns.at(-1)
  if (last) return last
  const turn = emptyTurn(0)
  run.turns.push(turn)
  return turn
}

export function runningCell(run: RunDraft): CellDraft | undefined {
  return run.turns.at(-1)?.cells.findLast(({ status }) => status === 'running')
}
