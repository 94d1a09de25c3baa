import type { Held } from '../../common/values.js'
import type { CodeUse } from './blocks.js'
import type { DeliveredOutcome, DescribedCall, RunState } from './payload-shapes.js'
import type { ActivityRecord } from './activity-log.js'
import type { CellNode } from './tree.js'
import { type Answer, onceTools } from './work.js'

/** A run while its activities are gone through, one after the other. */
export interface RunDraft {
  readonly turns: TurnDraft[]
  /** Every cell, by its number in the run. */
  readonly cells: Map<number, CellDraft>
  /** In histories that are gone. */
  readonly cellsBefore: number
  backend: string | undefined
  sandbox: string | undefined
  model: string | undefined
  onceTools: ReadonlySet<string>
  /** Rebuilds and wakes between two cells: for the sake of the next. */
  rebuilds: number
  wakes: number
}

export interface TurnDraft {
  readonly number: number
  readonly model: ActivityRecord | undefined
  readonly cells: CellDraft[]
  readonly directCalls: Map<number, CallDraft>
  /** Cells the model asked for that have not begun. */
  waiting: readonly CodeUse[]
}

export interface CellDraft {
  readonly number: number
  readonly code: Held<string>
  readonly toolUseId: string | undefined
  readonly startedAt: number
  readonly calls: Map<number, CallDraft>
  /** Numbers of its steps: one that is taken again after a rebuild counts once. */
  readonly steps: Set<number>
  endedAt: number | undefined
  status: CellNode['status']
  /** Piece by piece, as its steps gave it. */
  readonly output: Held<string>[]
  /** As the run's result has it: cut for its reader. */
  reported: string
  error: string | undefined
  rebuilds: number
  wakes: number
  /** Why its sandbox was lost; whether that was its end is told by what comes next. */
  lostBecause: string | undefined
}

export interface CallDraft {
  readonly turn: number
  readonly cell: number
  readonly index: number
  readonly step: number
  readonly madeAt: number
  readonly toolUseId: string | undefined
  readonly described: DescribedCall | undefined
  activity: ActivityRecord | undefined
  /** How it ended as its caller was told; the last word. */
  told: DeliveredOutcome | undefined
}

/** The answer of an activity that has ended well and could be read. */
export function answerOf<Type extends Answer['type']>(
  { end }: ActivityRecord,
  type: Type,
): Extract<Answer, { type: Type }> | undefined {
  const answer = end?.type === 'completed' ? end.answer : undefined
  return answer?.type === type ? (answer as Extract<Answer, { type: Type }>) : undefined
}

/** @param before what is known of histories that are gone */
export function beginDraft(startedAt: number, before: RunState | undefined): RunDraft {
  const run: RunDraft = {
    turns: [],
    cells: new Map(),
    cellsBefore: before?.counts.cells ?? 0,
    backend: before?.notebook?.session.ref.backend ?? before?.plan.backend,
    sandbox: undefined,
    model: before?.plan.model.name,
    onceTools: before ? onceTools(before.plan) : new Set(),
    rebuilds: 0,
    wakes: 0,
  }
  if (!before) return run
  const left = before.cell ?? before.left?.cell
  const turn = emptyTurn(left?.turn ?? before.counts.turns)
  run.turns.push(turn)
  if (!left) return run
  const cell = emptyCell(left.number, '', startedAt)
  run.cells.set(left.number, cell)
  turn.cells.push(cell)
  return run
}

export function emptyTurn(number: number): TurnDraft {
  return { number, model: undefined, cells: [], directCalls: new Map(), waiting: [] }
}

export function emptyCell(number: number, code: Held<string>, startedAt: number): CellDraft {
  return {
    number,
    code,
    toolUseId: undefined,
    startedAt,
    calls: new Map(),
    steps: new Set(),
    endedAt: undefined,
    status: 'running',
    output: [],
    reported: '',
    error: undefined,
    rebuilds: 0,
    wakes: 0,
    lostBecause: undefined,
  }
}
