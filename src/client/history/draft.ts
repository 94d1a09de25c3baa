import type { CodeUse } from './blocks.js'
import type { DeliveredOutcome, DescribedCall } from './payload-shapes.js'
import type { ActivityRecord } from './activity-log.js'
import type { CellNode } from './tree.js'
import type { Answer } from './work.js'

/** A run while its activities are gone through, one after the other. */
export interface RunDraft {
  readonly turns: TurnDraft[]
  /** Every cell, by its number in the run. */
  readonly cells: Map<number, CellDraft>
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
  readonly code: string
  readonly toolUseId: string | undefined
  readonly startedAt: number
  readonly calls: Map<number, CallDraft>
  /** Numbers of its steps: one that is taken again after a rebuild counts once. */
  readonly steps: Set<number>
  endedAt: number | undefined
  status: CellNode['status']
  output: string
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

export function emptyDraft(): RunDraft {
  return {
    turns: [],
    cells: new Map(),
    backend: undefined,
    sandbox: undefined,
    model: undefined,
    onceTools: new Set(),
    rebuilds: 0,
    wakes: 0,
  }
}
