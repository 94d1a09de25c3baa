/*
 * The journal: the recorded steps of a session, from which a rebuild restores the program.
 *
 * Owns: the steps since the last append, the log of the earlier ones in the value store, the mark of the current cell,
 * and the reference of the latest snapshot.
 * Boundary: plain data. It calls no activity itself: `Session` gives `externalize` a function that appends to the log.
 * It does not depend on the reason for a step.
 *
 * Invariants:
 * 1. Steps are numbered from 1 without gaps. A step that is attempted again has the same number, time and input.
 * 2. Of a result, the journal keeps the parts that a rebuild must repeat: the calls (index, digest, start of the
 *    summary), whether the step ended its cell, and when the code was interrupted. It keeps no output and no arguments.
 * 3. `dropCell` returns to the exact state before the current cell, also when steps of the cell are in the log already.
 * 4. A snapshot replaces no step. All steps stay recorded, for a rebuild in which the snapshot can't be restored.
 * 5. A snapshot of a position is ignored when steps were dropped after the position was read: the numbers of dropped
 *    steps are used again.
 */

import { defined } from '../../common/defined.js'
import type { ValueLog } from '../../common/json/value-log.js'
import type { SessionSnapshot } from '../../common/session/snapshots.js'
import type {
  ExecuteStepResult,
  DescribedCall,
  RecordedCall,
  RecordedStep,
  RecordedSteps,
  Step,
  StepInput,
} from '../../common/session/steps.js'
import { truncateEnd, utf8Length } from '../../common/text/text.js'
import type { ValueRef } from '../../common/json/external-value.js'
import type { AppendToLog } from '../temporal/activities.js'

/**
 * Maximum bytes of recorded steps that stay in the workflow. Above this limit, the steps are moved to the value store.
 */
const inlineLimitBytes = 256 * 1024

/** Characters of a call's summary that are recorded: enough to distinguish the call from others. */
const recordedSummaryCharacters = 80

interface JournalMark {
  readonly log: ValueLog | null
  /** Number of steps between the log and the mark. */
  readonly latest: number
  /** Number of cells before the mark. */
  readonly cells: number
}

interface Snapshot extends SessionSnapshot {
  /** Number of cells among the first `steps` steps. */
  readonly cells: number
}

/** All steps are in the log. */
export interface JournalState {
  readonly log: ValueLog | null
  readonly cells: number
  readonly cellStart: JournalMark
  /** Absent without a snapshot. */
  readonly snapshot?: Snapshot
}

interface JournalPosition {
  readonly steps: number
  readonly cells: number
  /** Changes when steps are dropped: their numbers are used again. */
  readonly generation: number
}

const emptyJournal: JournalState = { log: null, cells: 0, cellStart: { log: null, latest: 0, cells: 0 } }

export class Journal {
  #state: JournalState
  /** The steps that are not in the log yet. */
  #latest: RecordedStep[] = []
  #latestBytes = 0
  #generation = 0

  constructor(state = emptyJournal) {
    this.#state = state
  }

  get length(): number {
    return (this.#state.log?.length ?? 0) + this.#latest.length
  }

  get position(): JournalPosition {
    return { steps: this.length, cells: this.#state.cells, generation: this.#generation }
  }

  /** Number of steps and cells that a rebuild repeats. */
  get stepsToRepeat(): { readonly steps: number; readonly cells: number } {
    const { cells, snapshot } = this.#state
    return { steps: this.length - (snapshot?.steps ?? 0), cells: cells - (snapshot?.cells ?? 0) }
  }

  get steps(): RecordedSteps {
    const { log, snapshot } = this.#state
    const steps = { log, latest: this.#latest }
    return snapshot ? { ...steps, snapshot: { state: snapshot.state, steps: snapshot.steps } } : steps
  }

  /** Sets the snapshot of a position. Does nothing when steps were dropped since then. */
  setSnapshot(state: ValueRef, { steps, cells, generation }: JournalPosition): void {
    // Invariant 5.
    if (generation === this.#generation) this.#state = { ...this.#state, snapshot: { state, steps, cells } }
  }

  /** Drops a snapshot that can't be restored. The rebuild then repeats every step (invariant 4). */
  forgetSnapshot(): void {
    const { snapshot: _, ...state } = this.#state
    this.#state = state
  }

  /** True when the steps in the workflow should be moved to the log. */
  get shouldExternalize(): boolean {
    return this.#latestBytes > inlineLimitBytes
  }

  /**
   * Returns the next step to execute. An input of type `cell` starts the current cell. A file before a cell is a unit of
   * its own: it is dropped alone, and the next cell does not drop it.
   *
   * @param now milliseconds since the start of the session
   * @param waited milliseconds since the last result; undefined for the first step
   */
  nextStep(input: StepInput, now: number, waited?: number): Step {
    const { log, cells } = this.#state
    if (input.type === 'cell' || (input.type === 'file' && !input.inCell))
      this.#state = { ...this.#state, cellStart: { log, latest: this.#latest.length, cells } }
    return { number: this.length + 1, now, ...defined({ waited }), input } // invariant 1
  }

  /** Records a step with its result, and with the times at which the sandbox executed it. */
  record({ input, now, waited }: Step, stepResult: ExecuteStepResult): void {
    const { executedAt } = 'executedAt' in stepResult ? stepResult : { executedAt: undefined }
    const times = executedAt ?? { now, ...defined({ waited }) }
    const result: RecordedStep['result'] =
      stepResult.type === 'suspended'
        ? { type: 'suspended', calls: stepResult.calls.map(recordedCall) } // invariant 2
        : { type: 'ended' }
    const { interruptedAfterMs } = 'interruptedAfterMs' in stepResult ? stepResult : { interruptedAfterMs: undefined }
    const step = { ...times, input, result, ...defined({ interruptedAfterMs }) }
    this.#latest.push(step)
    this.#latestBytes += jsonBytes(step)
    if (input.type === 'cell') this.#state = { ...this.#state, cells: this.#state.cells + 1 }
  }

  /** Drops the current cell, which broke the session: a rebuild must not repeat it. */
  dropCell(): void {
    const { cellStart, snapshot } = this.#state
    // If the log has grown since the cell started, `externalize` has moved the mark to the end of a batch (invariant 3).
    this.#state = { ...this.#state, log: cellStart.log, cells: cellStart.cells }
    this.#latest.length = Math.min(this.#latest.length, cellStart.latest)
    this.#latestBytes = this.#latest.reduce((sum, step) => sum + jsonBytes(step), 0)
    this.#generation += 1
    if ((snapshot?.steps ?? 0) > this.length) this.forgetSnapshot()
  }

  /** Drops all steps, because the program does not repeat them. */
  clear(): void {
    this.#state = emptyJournal
    this.#latest = []
    this.#latestBytes = 0
    this.#generation += 1
  }

  /** Moves every step to the log. The start of the current cell ends a batch, so that the cell can still be dropped. */
  async externalize(append: AppendToLog): Promise<JournalState> {
    if (this.#latest.length > 0) {
      const { latest, cells } = this.#state.cellStart
      const batches = [this.#latest.slice(0, latest), this.#latest.slice(latest)].filter((batch) => batch.length > 0)
      const logs = await append(this.#state.log, batches)
      const cellStart = latest > 0 ? { log: logs[0] ?? null, latest: 0, cells } : this.#state.cellStart
      this.#state = { ...this.#state, log: logs.at(-1) ?? this.#state.log, cellStart }
      this.#latest = []
      this.#latestBytes = 0
    }
    return this.#state
  }
}

function recordedCall({ index, digest, summary }: DescribedCall): RecordedCall {
  return { index, digest, summary: truncateEnd(summary, recordedSummaryCharacters) }
}

function jsonBytes(step: RecordedStep): number {
  return utf8Length(JSON.stringify(step))
}
