import type { Chain } from '../common/chain.js'
import type { SnapshotMark } from '../common/snapshots.js'
import type {
  AdvanceAnswer,
  DescribedCall,
  RecordedCall,
  RecordedStep,
  RecordedSteps,
  Step,
  StepInput,
} from '../common/steps.js'
import { beginning, utf8Length } from '../common/text.js'
import type { ValueRef } from '../common/values.js'

/** Bytes of recorded steps that are held here; then they are kept elsewhere. */
const heldBytes = 256 * 1024

/** What is kept of a call's summary: enough to tell it from another. */
const summaryCharacters = 80

/** Puts items behind a chain, list after list; gives the chain after each. */
export type Append = (to: Chain | null, lists: readonly (readonly RecordedStep[])[]) => Promise<readonly Chain[]>

/** A place in the journal: everything before it. */
interface Mark {
  readonly chain: Chain | null
  /** Steps behind the chain. */
  readonly latest: number
  readonly cells: number
}

/** The state after so many steps, and the cells among them. */
interface Snapshot extends SnapshotMark {
  readonly cells: number
}

export interface JournalState {
  readonly chain: Chain | null
  readonly cells: number
  readonly cellStart: Mark
  readonly snapshot?: Snapshot
}

/** Where the journal stood once. */
export interface Place {
  readonly steps: number
  readonly cells: number
  readonly edition: number
}

/** All a session has been through: enough to make it again. */
export class Journal {
  #chain: Chain | null = null
  #latest: RecordedStep[] = []
  #latestBytes = 0
  #cells = 0
  #cellStart: Mark = { chain: null, latest: 0, cells: 0 }
  /** What the first steps came to; all of them are kept, for the day that it is of no use. */
  #snapshot: Snapshot | undefined
  /** Grows when steps are dropped: others may get their numbers. */
  #edition = 0

  /** @param state of a journal that was kept whole */
  constructor(state?: JournalState) {
    if (!state) return
    this.#chain = state.chain
    this.#cells = state.cells
    this.#cellStart = state.cellStart
    this.#snapshot = state.snapshot
  }

  get length(): number {
    return (this.#chain?.items ?? 0) + this.#latest.length
  }

  get place(): Place {
    return { steps: this.length, cells: this.#cells, edition: this.#edition }
  }

  /** What a rebuild has to repeat. */
  get repeated(): { readonly steps: number; readonly cells: number } {
    return {
      steps: this.length - (this.#snapshot?.steps ?? 0),
      cells: this.#cells - (this.#snapshot?.cells ?? 0),
    }
  }

  get steps(): RecordedSteps {
    const { state, steps } = this.#snapshot ?? {}
    const all = { earlier: this.#chain, latest: this.#latest }
    return state === undefined || steps === undefined ? all : { ...all, snapshot: { state, steps } }
  }

  /** The state at a place; nothing happens when the journal is no longer what it was there. */
  keepSnapshot(state: ValueRef, { steps, cells, edition }: Place): void {
    if (edition === this.#edition) this.#snapshot = { state, steps, cells }
  }

  /** It is of no use: a rebuild begins at the first step. */
  forgetSnapshot(): void {
    this.#snapshot = undefined
  }

  /** Steps are held here that should be kept elsewhere. */
  get isLarge(): boolean {
    return this.#latestBytes > heldBytes
  }

  /** The next step to take. */
  next(input: StepInput, now: number, waited?: number): Step {
    if (input.type === 'cell') {
      this.#cellStart = { chain: this.#chain, latest: this.#latest.length, cells: this.#cells }
    }
    return { number: this.length + 1, now, ...(waited === undefined ? {} : { waited }), input }
  }

  record({ number: _number, ...taken }: Step, answer: AdvanceAnswer): void {
    const recorded: RecordedStep['answer'] =
      answer.type === 'suspended' ? { type: 'suspended', calls: answer.calls.map(recordedCall) } : { type: 'ended' }
    const { interruptedAfterMs } = 'interruptedAfterMs' in answer ? answer : { interruptedAfterMs: undefined }
    const step = { ...taken, answer: recorded, ...(interruptedAfterMs === undefined ? {} : { interruptedAfterMs }) }
    this.#latest.push(step)
    this.#latestBytes += utf8Length(JSON.stringify(counted(step)))
    if (taken.input.type === 'cell') this.#cells += 1
  }

  /** Drops the current cell: it is what broke the session, so a rebuild must not run it again. */
  dropCell(): void {
    const { chain, latest, cells } = this.#cellStart
    // When the chain has grown since the cell began, what stood here then was appended up to the mark; see `keep`.
    this.#chain = chain
    this.#latest.length = Math.min(this.#latest.length, latest)
    this.#latestBytes = utf8Length(JSON.stringify(this.#latest.map(counted)))
    this.#cells = cells
    this.#edition += 1
    if ((this.#snapshot?.steps ?? 0) > this.length) this.#snapshot = undefined
  }

  /** Forgets all: what is recorded can't be repeated. */
  clear(): void {
    this.#chain = null
    this.#latest = []
    this.#latestBytes = 0
    this.#cells = 0
    this.#cellStart = { chain: null, latest: 0, cells: 0 }
    this.#snapshot = undefined
    this.#edition += 1
  }

  /** Keeps every step elsewhere. The beginning of the current cell stays a place to go back to. */
  async keep(append: Append): Promise<JournalState> {
    if (this.#latest.length > 0) {
      const { latest, cells } = this.#cellStart
      const lists = [this.#latest.slice(0, latest), this.#latest.slice(latest)].filter((list) => list.length > 0)
      const chains = await append(this.#chain, lists)
      if (latest > 0) this.#cellStart = { chain: chains[0] ?? null, latest: 0, cells }
      this.#chain = chains.at(-1) ?? this.#chain
      this.#latest = []
      this.#latestBytes = 0
    }
    const state = { chain: this.#chain, cells: this.#cells, cellStart: this.#cellStart }
    return this.#snapshot === undefined ? state : { ...state, snapshot: this.#snapshot }
  }
}

function recordedCall({ index, digest, summary }: DescribedCall): RecordedCall {
  return { index, digest, summary: beginning(summary, summaryCharacters) }
}

/** What counts of a step. Runs from before there was the rest must find their journals as large as they were. */
function counted({ now, input, answer, interruptedAfterMs }: RecordedStep): RecordedStep {
  const calls = answer.type === 'ended' ? [] : answer.calls.map(({ index, digest }) => ({ index, digest }))
  return {
    now,
    input,
    answer: answer.type === 'ended' ? answer : { ...answer, calls },
    ...(interruptedAfterMs === undefined ? {} : { interruptedAfterMs }),
  }
}
