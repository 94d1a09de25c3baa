import type { ValueLog } from '../../common/value-log.js'
import type { SessionSnapshot } from '../../common/snapshots.js'
import type {
  ExecuteStepResult,
  DescribedCall,
  RecordedCall,
  RecordedStep,
  RecordedSteps,
  Step,
  StepInput,
} from '../../common/steps.js'
import { truncateEnd, utf8Length } from '../../common/text.js'
import type { ValueRef } from '../../common/external-value.js'

/** Bytes of recorded steps that are held here; then they are kept elsewhere. */
const inlineLimitBytes = 256 * 1024

/** What is kept of a call's summary: enough to tell it from another. */
const recordedSummaryCharacters = 80

/** Puts items behind a chain, list after list; gives the chain after each. */
export type AppendToLog = (
  to: ValueLog | null,
  lists: readonly (readonly RecordedStep[])[],
) => Promise<readonly ValueLog[]>

/** A place in the journal: everything before it. */
interface JournalMark {
  readonly log: ValueLog | null
  /** Steps behind the chain. */
  readonly latest: number
  readonly cells: number
}

/** The state after so many steps, and the cells among them. */
interface Snapshot extends SessionSnapshot {
  readonly cells: number
}

export interface JournalState {
  readonly log: ValueLog | null
  readonly cells: number
  readonly cellStart: JournalMark
  readonly snapshot?: Snapshot
}

/** Where the journal stood once. */
export interface JournalPosition {
  readonly steps: number
  readonly cells: number
  readonly generation: number
}

/** All a session has been through: enough to make it again. */
export class Journal {
  #log: ValueLog | null = null
  #latest: RecordedStep[] = []
  #latestBytes = 0
  #cells = 0
  #cellStart: JournalMark = { log: null, latest: 0, cells: 0 }
  /** What the first steps came to; all of them are kept, for the day that it is of no use. */
  #snapshot: Snapshot | undefined
  /** Grows when steps are dropped: others may get their numbers. */
  #generation = 0

  /** @param state of a journal that was kept whole */
  constructor(state?: JournalState) {
    if (!state) return
    this.#log = state.log
    this.#cells = state.cells
    this.#cellStart = state.cellStart
    this.#snapshot = state.snapshot
  }

  get length(): number {
    return (this.#log?.length ?? 0) + this.#latest.length
  }

  get position(): JournalPosition {
    return { steps: this.length, cells: this.#cells, generation: this.#generation }
  }

  /** What a rebuild has to repeat. */
  get stepsToRepeat(): { readonly steps: number; readonly cells: number } {
    return {
      steps: this.length - (this.#snapshot?.steps ?? 0),
      cells: this.#cells - (this.#snapshot?.cells ?? 0),
    }
  }

  get steps(): RecordedSteps {
    const { state, steps } = this.#snapshot ?? {}
    const all = { log: this.#log, latest: this.#latest }
    return state === undefined || steps === undefined ? all : { ...all, snapshot: { state, steps } }
  }

  /** The state at a place; nothing happens when the journal is no longer what it was there. */
  setSnapshot(state: ValueRef, { steps, cells, generation }: JournalPosition): void {
    if (generation === this.#generation) this.#snapshot = { state, steps, cells }
  }

  /** It is of no use: a rebuild begins at the first step. */
  forgetSnapshot(): void {
    this.#snapshot = undefined
  }

  /** Steps are held here that should be kept elsewhere. */
  get shouldExternalize(): boolean {
    return this.#latestBytes > inlineLimitBytes
  }

  /** The next step to take. */
  nextStep(input: StepInput, now: number, waited?: number): Step {
    if (input.type === 'cell') {
      this.#cellStart = { log: this.#log, latest: this.#latest.length, cells: this.#cells }
    }
    return { number: this.length + 1, now, ...(waited === undefined ? {} : { waited }), input }
  }

  record({ number: _number, ...taken }: Step, answer: ExecuteStepResult): void {
    const recorded: RecordedStep['result'] =
      answer.type === 'suspended' ? { type: 'suspended', calls: answer.calls.map(recordedCall) } : { type: 'ended' }
    const { interruptedAfterMs } = 'interruptedAfterMs' in answer ? answer : { interruptedAfterMs: undefined }
    const step = { ...taken, result: recorded, ...(interruptedAfterMs === undefined ? {} : { interruptedAfterMs }) }
    this.#latest.push(step)
    this.#latestBytes += utf8Length(JSON.stringify(measuredFields(step)))
    if (taken.input.type === 'cell') this.#cells += 1
  }

  /** Drops the current cell: it is what broke the session, so a rebuild must not run it again. */
  dropCell(): void {
    const { log, latest, cells } = this.#cellStart
    // When the chain has grown since the cell began, what stood here then was appended up to the mark; see `keep`.
    this.#log = log
    this.#latest.length = Math.min(this.#latest.length, latest)
    this.#latestBytes = utf8Length(JSON.stringify(this.#latest.map(measuredFields)))
    this.#cells = cells
    this.#generation += 1
    if ((this.#snapshot?.steps ?? 0) > this.length) this.#snapshot = undefined
  }

  /** Forgets all: what is recorded can't be repeated. */
  clear(): void {
    this.#log = null
    this.#latest = []
    this.#latestBytes = 0
    this.#cells = 0
    this.#cellStart = { log: null, latest: 0, cells: 0 }
    this.#snapshot = undefined
    this.#generation += 1
  }

  /** Keeps every step elsewhere. The beginning of the current cell stays a place to go back to. */
  async externalize(append: AppendToLog): Promise<JournalState> {
    if (this.#latest.length > 0) {
      const { latest, cells } = this.#cellStart
      const lists = [this.#latest.slice(0, latest), this.#latest.slice(latest)].filter((list) => list.length > 0)
      const chains = await append(this.#log, lists)
      if (latest > 0) this.#cellStart = { log: chains[0] ?? null, latest: 0, cells }
      this.#log = chains.at(-1) ?? this.#log
      this.#latest = []
      this.#latestBytes = 0
    }
    const state = { log: this.#log, cells: this.#cells, cellStart: this.#cellStart }
    return this.#snapshot === undefined ? state : { ...state, snapshot: this.#snapshot }
  }
}

function recordedCall({ index, digest, summary }: DescribedCall): RecordedCall {
  return { index, digest, summary: truncateEnd(summary, recordedSummaryCharacters) }
}

/** What counts of a step. Runs from before there was the rest must find their journals as large as they were. */
function measuredFields({ now, input, result, interruptedAfterMs }: RecordedStep): object {
  const calls = result.type === 'ended' ? [] : result.calls.map(({ index, digest }) => ({ index, digest }))
  return {
    now,
    input,
    result: result.type === 'ended' ? result : { ...result, calls },
    ...(interruptedAfterMs === undefined ? {} : { interruptedAfterMs }),
  }
}
