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
  readonly generation: number
}

export class Journal {
  #log: ValueLog | null = null
  #latest: RecordedStep[] = []
  #latestBytes = 0
  #cells = 0
  #cellStart: JournalMark = { log: null, latest: 0, cells: 0 }
  #snapshot: Snapshot | undefined
  #generation = 0

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

  /** Number of steps and cells that a rebuild repeats. */
  get stepsToRepeat(): { readonly steps: number; readonly cells: number } {
    return {
      steps: this.length - (this.#snapshot?.steps ?? 0),
      cells: this.#cells - (this.#snapshot?.cells ?? 0),
    }
  }

  get steps(): RecordedSteps {
    const steps = { log: this.#log, latest: this.#latest }
    if (this.#snapshot === undefined) return steps
    const { state, steps: count } = this.#snapshot
    return { ...steps, snapshot: { state, steps: count } }
  }

  /** Sets the snapshot of a position. Does nothing when steps were dropped since then. */
  setSnapshot(state: ValueRef, { steps, cells, generation }: JournalPosition): void {
    if (generation === this.#generation) this.#snapshot = { state, steps, cells } // invariant 5
  }

  /** Drops a snapshot that can't be restored. The rebuild then repeats every step. */
  forgetSnapshot(): void {
    // invariant 4
    this.#snapshot = undefined
  }

  /** Changes when steps were dropped: their numbers are used again. */
  get generation(): number {
    return this.#generation
  }

  /** True when the steps in the workflow should be moved to the log. */
  get shouldExternalize(): boolean {
    return this.#latestBytes > inlineLimitBytes
  }

  /**
   * Returns the next step to execute. An input of type `cell` starts the current cell.
   *
   * @param now milliseconds since the start of the session
   * @param waited milliseconds since the last result; undefined for the first step
   */
  nextStep(input: StepInput, now: number, waited?: number): Step {
    if (input.type === 'cell') {
      this.#cellStart = { log: this.#log, latest: this.#latest.length, cells: this.#cells }
    }
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
    if (input.type === 'cell') this.#cells += 1
  }

  /** Drops the current cell, which broke the session: a rebuild must not repeat it. */
  dropCell(): void {
    const { log, latest, cells } = this.#cellStart
    // If the log has grown since the cell started, `externalize` has moved the mark to the end of a batch.
    // Invariant 3.
    this.#log = log
    this.#latest.length = Math.min(this.#latest.length, latest)
    this.#latestBytes = this.#latest.reduce((sum, step) => sum + jsonBytes(step), 0)
    this.#cells = cells
    this.#generation += 1
    if ((this.#snapshot?.steps ?? 0) > this.length) this.#snapshot = undefined
  }

  /** Drops all steps, because the program does not repeat them. */
  clear(): void {
    this.#log = null
    this.#latest = []
    this.#latestBytes = 0
    this.#cells = 0
    this.#cellStart = { log: null, latest: 0, cells: 0 }
    this.#snapshot = undefined
    this.#generation += 1
  }

  /** Moves every step to the log. The start of the current cell ends a batch, so that the cell can still be dropped. */
  async externalize(append: AppendToLog): Promise<JournalState> {
    if (this.#latest.length > 0) {
      const { latest, cells } = this.#cellStart
      const batches = [this.#latest.slice(0, latest), this.#latest.slice(latest)].filter((batch) => batch.length > 0)
      const logs = await append(this.#log, batches)
      if (latest > 0) this.#cellStart = { log: logs[0] ?? null, latest: 0, cells }
      this.#log = logs.at(-1) ?? this.#log
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

function jsonBytes(step: RecordedStep): number {
  return utf8Length(JSON.stringify(step))
}
