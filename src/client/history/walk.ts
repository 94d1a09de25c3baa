import { answerOf, beginDraft, type CellDraft, emptyCell, emptyTurn, type RunDraft, type TurnDraft } from './draft.js'
import { endCell, settleCell, toldOf } from './cell-end.js'
import { isSame } from './elsewhere.js'
import type { ActivityRecord } from './activity-log.js'
import type { RunState } from './payload-shapes.js'
import type { Held } from '../../common/values.js'
import type { Work } from './work.js'

type Advance = Extract<Work, { type: 'advance' }>

/**
 * Goes through a run's activities in the order they were scheduled, which is the order in which things happened.
 *
 * @param before what the run brought with it, when its first histories are gone
 */
export function walk(activities: readonly ActivityRecord[], startedAt: number, before: RunState | undefined): RunDraft {
  const run = beginDraft(startedAt, before)
  for (const record of activities) take(run, record)
  return run
}

function take(run: RunDraft, record: ActivityRecord): void {
  const { work } = record
  switch (work.type) {
    case 'plan': {
      const plan = answerOf(record, 'plan')?.plan
      run.backend = plan?.backend
      run.model = plan?.model
      run.onceTools = plan?.onceTools ?? run.onceTools
      return
    }
    case 'model':
      return takeTurn(run, record, work)
    case 'open':
      return takeOpen(run, record, work.after)
    case 'park':
      // Kept as it is: the next step wakes it. What could not be kept is made again, and counted then.
      if (answerOf(record, 'park')?.isKept === true) (runningCell(run) ?? run).wakes += 1
      return
    case 'advance':
      return takeAdvance(run, record, work)
    case 'tool':
      return takeCall(run, record, work)
    case 'close':
    case 'other':
  }
}

function takeTurn(run: RunDraft, record: ActivityRecord, work: Extract<Work, { type: 'model' }>): void {
  const before = run.turns.at(-1)
  if (before) settleTurn(before, work.toolResults, record.scheduledAt)
  const reply = answerOf(record, 'model')
  const turn: TurnDraft = {
    number: work.turn,
    model: record,
    cells: [],
    directCalls: new Map(),
    waiting: reply?.codeUses ?? [],
  }
  run.turns.push(turn)
  for (const [toolUseId, described] of reply?.calls ?? []) {
    const { index } = described
    const place = { turn: turn.number, cell: 0, index, step: 0 }
    const madeAt = record.end?.at ?? record.scheduledAt
    turn.directCalls.set(index, { ...place, madeAt, toolUseId, described, activity: undefined, told: undefined })
  }
}

/** What the model was told afterwards closes what the activities leave open. */
function settleTurn(turn: TurnDraft, told: ReadonlyMap<string, string>, at: number): void {
  turn.waiting = []
  for (const cell of turn.cells) settleCell(cell, told.get(cell.toolUseId ?? ''), at)
  for (const call of turn.directCalls.values()) {
    if (!call.activity) call.told = toldOf(told.get(call.toolUseId ?? ''))
  }
}

function takeOpen(run: RunDraft, record: ActivityRecord, after: 'nothing' | 'parking' | 'loss'): void {
  const opened = answerOf(record, 'open')
  run.backend = opened?.backend ?? run.backend
  run.sandbox = opened?.description ?? run.sandbox
  const counted = runningCell(run) ?? run
  if (after === 'loss') counted.rebuilds += 1
  if (after === 'parking') counted.wakes += 1
}

function takeAdvance(run: RunDraft, record: ActivityRecord, { step }: Advance): void {
  if (step?.input.type === 'cell' && !run.cells.has(step.input.cell)) {
    beginCell(run, step.input.cell, step.input.source, record.scheduledAt)
  }
  if (step?.input.type === 'results') deliver(run, step.input.results)
  const cell = runningCell(run)
  if (!cell) return
  if (step) cell.steps.add(step.number)
  if (record.end && record.end.type !== 'completed') cell.lostBecause = record.end.failure.message
  const answer = answerOf(record, 'advance')?.answer
  const at = record.end?.at
  if (!answer || at === undefined) return
  endCell(cell, answer, at)
  if (answer.type !== 'suspended') return
  const turn = run.turns.at(-1)?.number ?? 0
  for (const described of answer.calls) {
    const place = { turn, cell: cell.number, index: described.index, step: step?.number ?? 0, madeAt: at }
    const open = { toolUseId: undefined, described, activity: undefined, told: undefined }
    cell.calls.set(described.index, { ...place, ...open })
  }
}

function beginCell(run: RunDraft, number: number, code: Held<string>, startedAt: number): void {
  const before = runningCell(run)
  if (before) settleCell(before, undefined, startedAt)
  const turn = turnOf(run)
  const place = turn.waiting.findIndex((use) => isSame(use.code, code))
  const use = turn.waiting[place]
  // What stands before it in the reply was refused without being run.
  turn.waiting = turn.waiting.slice(place + 1)
  const { rebuilds, wakes } = run
  const cell: CellDraft = { ...emptyCell(number, code, startedAt), toolUseId: use?.toolUseId, rebuilds, wakes }
  run.rebuilds = 0
  run.wakes = 0
  run.cells.set(number, cell)
  turn.cells.push(cell)
}

type Results = Extract<NonNullable<Advance['step']>['input'], { type: 'results' }>['results']

/** A result belongs to the running cell, or to an earlier one that left its call open. */
function deliver(run: RunDraft, results: Results): void {
  const cells = [...run.cells.values()].toReversed()
  for (const { index, outcome } of results) {
    const call = cells.flatMap(({ calls }) => calls.get(index) ?? []).find(({ told }) => told === undefined)
    if (call) call.told = outcome
  }
}

function takeCall(run: RunDraft, record: ActivityRecord, { call }: Extract<Work, { type: 'tool' }>): void {
  const { turn, cell, index } = call.position
  const calls = cell === 0 ? turnOf(run).directCalls : run.cells.get(cell)?.calls
  if (!calls) return
  const draft = calls.get(index)
  if (draft) {
    draft.activity = record
    return
  }
  const place = { turn, cell, index, step: 0, madeAt: record.scheduledAt }
  calls.set(index, { ...place, toolUseId: undefined, described: undefined, activity: record, told: undefined })
}

/** The turn that goes on; a program without a model has turn 0 only. */
function turnOf(run: RunDraft): TurnDraft {
  const last = run.turns.at(-1)
  if (last) return last
  const turn = emptyTurn(0)
  run.turns.push(turn)
  return turn
}

export function runningCell(run: RunDraft): CellDraft | undefined {
  return run.turns.at(-1)?.cells.findLast(({ status }) => status === 'running')
}
