import type { StreamData, StreamEvent, StreamRecord } from './events.js'

interface UnitState {
  readonly run: number
  readonly epoch: number
  readonly attempt: number
  /** Number of the last record. */
  readonly number: number
  /** Offset of the first event that is not void. Undefined: there is none. */
  readonly since: string | undefined
  readonly isOpen: boolean
  /** Whether the next attempt joins this one: see {@link joins}. */
  readonly isJoinable: boolean
}

type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never
type NewEvent = DistributiveOmit<StreamEvent, 'offset' | 'time'>

/**
 * Events after which a turn, call, compaction or sampling has not ended. An open step does not count: it may be silent for long.
 */
const openTypes: ReadonlySet<StreamData['type']> = new Set([
  'turn.started',
  'turn.progressed',
  'text.delta',
  'code.delta',
  'call.started',
  'compaction.started',
  'sampling.started',
])

/** The last event of a step whose result has not been published. */
const beginTypes: ReadonlySet<StreamData['type']> = new Set(['cell.started', 'output.preview'])

/**
 * Turns records into events. The events of a record depend only on the records before it, so every reader of a stream
 * gets the same events with the same offsets.
 *
 * | record of a unit | events |
 * |---|---|
 * | of an older attempt, or a record that was read before | none |
 * | the next one of its attempt | its event |
 * | a later one of its attempt | `gap`, its event |
 * | of a newer attempt | `retry`, `reset` if the unit had events, its event |
 * | of attempt 1, which joins the step that attempt 0 has begun | its event, unless it is the start of the step |
 */
export class ReaderState {
  readonly #units = new Map<string, UnitState>()
  /** Executions in the order in which they first published. After a reset, the newer execution repeats units. */
  readonly #runs = new Map<string, number>()
  #lastTurn: (TurnBegin & { readonly unit: string }) | undefined

  /** @param id of the entry that has the record */
  add(record: StreamRecord, id: string): readonly StreamEvent[] {
    const { unit, epoch, attempt, number, data, time } = record
    const run = this.#runNumber(record.runId)
    const known = this.#units.get(unit)
    const order = known ? compare({ run, epoch, attempt, number }, known) : 'later'
    if (order === 'earlier') return []
    const events: NewEvent[] = []
    const isLater = order === 'later'
    const isJoined = isLater && known !== undefined && joins({ run, epoch, attempt }, known)
    const isNewAttempt = isLater && !isJoined
    if (isNewAttempt && (known !== undefined || attempt > 1)) events.push({ type: 'retry', unit, attempt })
    if (isNewAttempt) events.push(...reset(unit, known?.since))
    const expected = isLater ? 1 : (known?.number ?? 0) + 1
    if (number > expected) events.push({ type: 'gap', unit })
    if (data.type === 'turn.started') events.push(...this.#resetRepeatedTurn(unit, data))
    let since = isNewAttempt ? undefined : known?.since
    if (data.type === 'step.failed') {
      events.push(...reset(unit, since))
      since = undefined
    } else if (!isJoined || data.type !== 'cell.started') {
      since ??= offsetOf(id, events.length)
      events.push({ ...data, unit, attempt })
    }
    const isJoinable = attempt === 0 && beginTypes.has(data.type)
    this.#units.set(unit, { run, epoch, attempt, number, since, isOpen: openTypes.has(data.type), isJoinable })
    return events.map((event, index) => ({ ...event, offset: offsetOf(id, index), time }))
  }

  /** Whether a turn, a call or a compaction has begun whose end has not been read. */
  get hasOpenUnits(): boolean {
    return [...this.#units.values()].some(({ isOpen }) => isOpen)
  }

  #runNumber(runId: string): number {
    const run = this.#runs.get(runId) ?? this.#runs.size
    this.#runs.set(runId, run)
    return run
  }

  /** Resets the previous turn when it was not committed: its reply did not become part of the conversation. */
  #resetRepeatedTurn(unit: string, begin: TurnBegin): readonly NewEvent[] {
    const last = this.#lastTurn
    this.#lastTurn = { ...begin, unit }
    const turn = last && this.#units.get(last.unit)
    // All steps of a plan begin with the same messages.
    if (
      !last ||
      !turn ||
      last.unit === unit ||
      last.committedTurns !== begin.committedTurns ||
      last.planStep !== begin.planStep
    )
      return []
    this.#units.set(last.unit, { ...turn, since: undefined })
    return reset(last.unit, turn.since)
  }
}

type TurnBegin = Extract<StreamData, { type: 'turn.started' }>

function reset(unit: string, since: string | undefined): readonly NewEvent[] {
  return since === undefined ? [] : [{ type: 'reset', unit, since }]
}

type Position = Pick<UnitState, 'run' | 'epoch' | 'attempt' | 'number'>

/**
 * Returns whether an attempt continues the one before. The activity that opens a session begins its first step as
 * attempt 0. The first attempt of `session.step` joins a step that takes longer, in the same sandbox.
 */
function joins({ run, epoch, attempt }: Omit<Position, 'number'>, known: UnitState): boolean {
  return known.isJoinable && attempt === 1 && run === known.run && epoch === known.epoch
}

/** `earlier`: ignore the record. `later`: the record is of a newer attempt. */
function compare(record: Position, known: Position): 'earlier' | 'next' | 'later' {
  for (const field of ['run', 'epoch', 'attempt'] as const) {
    if (record[field] !== known[field]) return record[field] < known[field] ? 'earlier' : 'later'
  }
  return record.number <= known.number ? 'earlier' : 'next'
}

/** The offset of an event: the id of its entry, and its position among the events of that entry. */
function offsetOf(id: string, index: number): string {
  return `${id}.${index}`
}

/** @returns undefined for a text that is not an offset */
export function parseOffset(offset: string): { readonly id: string; readonly index: number } | undefined {
  const [, id, index] = /^(.+)\.(\d+)$/.exec(offset) ?? []
  return id === undefined || index === undefined ? undefined : { id, index: Number(index) }
}
