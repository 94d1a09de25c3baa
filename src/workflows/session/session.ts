import { capturedCharacters } from '../../common/run/limits.js'
import { ApplicationFailure, CancellationScope } from '@temporalio/workflow'
import { digestJson } from '../../common/calls/call-identity.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import { type FoundFile, type KeptFiles, partBytes, type StoredFile } from '../../common/files/files.js'
import { defined } from '../../common/defined.js'
import type { RunConfig } from '../../common/run/run-config.js'
import type { Step, StepActivityResult, StepInput, StepOutcome } from '../../common/session/steps.js'
import { pluralize, toTemporalSummary } from '../../common/text/text.js'
import { countStoredBytes, externalBytes } from '../run/stored-bytes.js'
import type { Run } from '../run/run.js'
import { appendJournal } from '../temporal/activities.js'
import { Interruption } from '../temporal/interruption.js'
import { metrics } from '../temporal/metrics.js'
import { FollowUpQueue, type PreparedFollowUp, type QueuedStep, type StepLimit } from './follow-up-queue.js'
import { Journal, type JournalState } from './journal.js'
import { describeStep } from './describe.js'
import { lossCause } from './losses.js'
import { type RequestedStep, Sandbox, type SerializedSandbox } from './sandbox.js'
import { Snapshots, type SnapshotsState } from './snapshots.js'

/**
 * Sandboxes that may be ahead of this run in a row at one step. A worker that dies during a rebuild leaves one. Only
 * hostile code causes more.
 */
const maxFencedPerStep = 10

/** Sandboxes that may be lost in a row at one step. Only the program itself causes more losses. */
const maxRebuildsPerStep = 2

/**
 * How often the process of the program may end by itself at one step. A program that ends it once will end it again.
 */
const maxExitsPerStep = 1

/** Reason why a step was not executed: it was interrupted while it waited for a sandbox. */
const interruptedBeforeStart = 'Interrupted: the code was stopped while it waited for a sandbox'

/** How a step that writes a file has failed. */
export type WriteFailure = Extract<StepOutcome, { type: 'failed' | 'lost' | 'diverged' }>

export interface SessionState {
  readonly sandbox: SerializedSandbox
  /** Start of the session by the workflow's clock, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Time of the latest result of a step, by the same clock; absent before the first result. */
  readonly lastResultAt?: number
  readonly journal: JournalState
  readonly snapshots: SnapshotsState
  /** Absent when there are none. */
  readonly followUps?: readonly QueuedStep[]
}

/**
 * A program that the workflow executes step by step in a sandbox.
 *
 * Owns: the journal of steps, the follow-up steps that the cell has yet to take, the sandbox, its snapshots, and the
 * interruption of the current cell.
 * Boundary: it schedules no tool call, and does not depend on the purpose of a cell (`src/workflows/cell`). It reaches
 * a sandbox only through `Sandbox` and `Snapshots`, which call activities, and through the worker of a call
 * (`prepareFollowUp`).
 *
 * Invariants:
 * 1. A step with a recorded result is executed again only to rebuild a lost sandbox.
 * 2. A program that can't be rebuilt loses the current cell (`lost`) or all cells (`diverged`). The session continues.
 * 3. Only one step is in progress. A step waits for a snapshot in progress, and for the end of parking.
 * 4. A step causes at most {@link maxRebuildsPerStep} rebuilds because of lost sandboxes, of these
 *    {@link maxExitsPerStep} because of programs that ended, and at most {@link maxFencedPerStep} because of sandboxes
 *    that are ahead. So a program that kills its sandbox comes to an end.
 * 5. The times that the program sees are those of the workflow tasks, or of the worker for a follow-up step. They are
 *    the same in a rebuild.
 */
export class Session {
  readonly #run: Run
  readonly #config: RunConfig
  readonly #startedAt: number
  #lastResultAt: number | undefined
  readonly #journal: Journal
  readonly #sandbox: Sandbox
  readonly #snapshots: Snapshots
  readonly #followUps: FollowUpQueue
  readonly interruption = new Interruption()

  constructor(run: Run, state?: SessionState) {
    const { config, identity } = run
    this.#run = run
    this.#config = config
    this.#startedAt = state?.startedAt ?? Date.now()
    this.#lastResultAt = state?.lastResultAt
    const id = digestJson([identity.workflowId, identity.firstExecutionRunId]).slice(0, 20)
    const ref = { id, epoch: 0, backend: config.backend, startedAt: this.#startedAt }
    this.#sandbox = new Sandbox(run, state?.sandbox ?? { ref, state: { type: 'none' } })
    this.#journal = new Journal(state?.journal)
    this.#snapshots = new Snapshots(config, this.#journal, state?.snapshots)
    this.#followUps = new FollowUpQueue(state?.followUps)
  }

  /** Milliseconds spent on waiting for sandboxes, which do not count towards the time limit of a cell. */
  get openingMs(): number {
    return this.#sandbox.openingMs
  }

  get sandbox(): Sandbox['status'] {
    return this.#sandbox.status
  }

  /** True when the next cell starts a program without variables. */
  get isEmpty(): boolean {
    return this.#journal.length === 0
  }

  /**
   * Runs the program to its next suspension or to its end. A lost sandbox is rebuilt from the journal, and the step is
   * executed again. The outcome is `lost` only when that does not help; the session then continues without the current
   * cell. It is `diverged` when the program does not repeat the journal; the session then continues empty.
   */
  async executeStep(input: StepInput, limit: StepLimit): Promise<StepOutcome> {
    if (input.type === 'cell') this.interruption.clear()
    const { step, executed } = this.#nextStep(this.#withInputData(input))
    let fenced = 0
    let exits = 0
    let followUp = executed
    for (let losses = 1; ;) {
      const result: StepActivityResult = followUp ?? (await this.#attemptStep(step, limit))
      followUp = undefined
      if (result.type === 'rebuilt' || result.type === 'restore_failed') {
        throw ApplicationFailure.nonRetryable('a step was not executed', 'INTERNAL')
      }
      if (result.type !== 'lost' && result.type !== 'diverged') {
        this.#journal.record(step, result)
        this.#lastResultAt = Date.now()
        this.#followUps.add((result.followUps ?? []).map((each) => ({ ...each, results: each.results ?? [] })))
        // The interrupt reached the code. If the code continues, it has caught the interrupt.
        if (result.interruptedAfterMs !== undefined) this.interruption.clear()
        if ('closed' in result && result.closed) this.#sandbox.forget()
        if (this.#journal.shouldExternalize) await this.#externalizeJournal()
        return result
      }
      if (result.type === 'lost' && result.cause !== 'interrupted')
        metrics.add('ptc_session_losses_total', 1, { cause: lossCause(result) })
      await this.#discardFailed(result)
      const isAhead = result.type === 'lost' && result.fenced
      if (isAhead && fenced++ < maxFencedPerStep) continue
      if (result.type === 'lost' && result.cause === 'exited') exits += 1
      const isHopeless =
        fenced > maxFencedPerStep ||
        result.type === 'diverged' ||
        (result.cause !== 'gone' && result.cause !== 'exited') ||
        exits > maxExitsPerStep ||
        losses > maxRebuildsPerStep // invariant 4
      if (isHopeless) {
        if (result.type === 'diverged') this.#journal.clear()
        else this.#journal.dropCell() // invariant 2
        return result.type === 'diverged' && input.type === 'cell' ? withoutCodeRun(result) : result
      }
      losses += 1
    }
  }

  /**
   * Writes a file into the sandbox. Returns how that failed; undefined when the sandbox has it. After `lost` and
   * `diverged` the session continues without the current cell, or empty, as after any step.
   *
   * @param kind `upload`: between two cells. `returned`: the same, for the file of a tool. `in_cell`: while a cell waits.
   */
  async writeFile(
    { path, parts, bytes, sha256, mediaType }: StoredFile,
    kind: 'upload' | 'returned' | 'in_cell',
  ): Promise<WriteFailure | undefined> {
    for (const [index, content] of parts.entries()) {
      const isLast = index === parts.length - 1
      const whole = isLast && kind === 'upload' && { whole: { bytes, sha256, mediaType } }
      const inCell = kind === 'in_cell' && { inCell: true as const }
      const input = { type: 'file', path, offset: index * partBytes, content, ...whole, ...inCell } as const
      const result = await this.executeStep(input, { outputLimit: 0 })
      if (result.type !== 'completed' && result.type !== 'suspended') return result
    }
    return undefined
  }

  /**
   * Stores artifacts of the cell that has ended. A sandbox that is lost meanwhile is rebuilt, which makes the files
   * again.
   */
  async storeFiles(found: readonly FoundFile[]): Promise<KeptFiles> {
    for (let losses = 0; losses <= maxRebuildsPerStep; losses += 1) {
      const rebuilt = this.#sandbox.isOpen ? undefined : await this.#openOrRebuild()
      if (rebuilt !== undefined && rebuilt.type !== 'rebuilt') {
        const isLost = rebuilt.type === 'lost' && (rebuilt.cause === 'gone' || rebuilt.cause === 'exited')
        if (!isLost) break
        await this.#discardFailed(rebuilt)
        continue
      }
      const result = await this.#sandbox.storeFiles(this.#journal.length, found)
      if (result.type === 'stored') return result
      await this.#sandbox.discard()
    }
    return {
      files: [],
      lost: found.map(({ path }) => ({ path, problem: 'the sandbox was lost before it was stored' })),
    }
  }

  outcomeOf(index: number): CallOutcome | undefined {
    return this.#followUps.outcomeOf(index)
  }

  /** Lets the worker of a call execute the next step as well. The program must wait for this call only. */
  prepareFollowUp(index: number, outputLimit: number, maxLocalCalls: number): PreparedFollowUp {
    const { generation } = this.#journal.position
    const step = this.#journal.length + 1
    const now = Date.now() - this.#startedAt
    const record: PreparedFollowUp['record'] = (outcome, steps) => {
      // The cell of the call was dropped, so the steps after the call do not count.
      if (this.#journal.position.generation !== generation) return
      this.#followUps.add(steps.map((each) => ({ ...each, results: each.results ?? [{ index, outcome }] })))
    }
    const { id, epoch } = this.#sandbox.ref
    const input = {
      session: { id, epoch },
      step,
      now,
      ...(outputLimit === capturedCharacters ? {} : { outputLimit }),
      ...(maxLocalCalls === 0 ? {} : { maxLocalCalls }),
    }
    return { input, record }
  }

  /**
   * Makes a snapshot in the background if a rebuild would take long. Called between two cells, when no call is pending.
   */
  snapshotIfDue(): void {
    if (this.#sandbox.isOpen) this.#snapshots.startIfDue(this.#sandbox.ref, this.#sandbox.hostQueue)
  }

  /** Drops the current cell and its sandbox; the next cell starts from the state before it. */
  async dropCell(): Promise<void> {
    this.#followUps.clear()
    this.#journal.dropCell()
    await this.#sandbox.discard()
  }

  /** Drops all cells and the sandbox; the next cell starts with an empty program. */
  async dropAll(): Promise<void> {
    this.#followUps.clear()
    this.#journal.clear()
    await this.#sandbox.discard()
  }

  /** Releases the sandbox until the next step, which restores the program first. */
  park(): void {
    this.#sandbox.park(this.#snapshots.inProgress)
  }

  /** Ends the session. A cancellation does not stop this, and a host that does not answer does not fail the run. */
  async close(): Promise<void> {
    this.#snapshots.cancel()
    await CancellationScope.nonCancellable(() => this.#sandbox.close())
  }

  /**
   * Returns the state for the next execution of the chain. It is small, because the journal is moved to the value
   * store.
   */
  async serialize(): Promise<SessionState> {
    await this.#snapshots.inProgress
    const sandbox = await this.#sandbox.serialize()
    const journal = await this.#externalizeJournal()
    return {
      sandbox,
      startedAt: this.#startedAt,
      ...defined({ lastResultAt: this.#lastResultAt }),
      journal,
      snapshots: this.#snapshots.state,
      ...(this.#followUps.steps.length === 0 ? {} : { followUps: this.#followUps.steps }),
    }
  }

  #externalizeJournal(): Promise<JournalState> {
    return this.#journal.externalize(countStoredBytes(this.#run, appendJournal(this.#config.timeouts)))
  }

  /**
   * Adds the input data of the run to the first cell. After all cells were dropped, the next cell is the first again.
   */
  #withInputData(input: StepInput): StepInput {
    const { input: data } = this.#config
    if (input.type !== 'cell' || data === undefined || this.#journal.position.cells > 0) return input
    return { ...input, inputData: data.value }
  }

  /** Returns the next step, with its result when a worker has executed it already. */
  #nextStep(input: StepInput): { readonly step: Step; readonly executed: QueuedStep['result'] } {
    const number = this.#journal.length + 1
    const followUp = this.#followUps.take(number, input) // invariant 1
    if (followUp) {
      const { now, waited, result, tookMs = 0 } = followUp
      if (result) this.#run.addStoredBytes(externalBytes(result))
      this.#snapshots.addStepTime(tookMs)
      return { step: this.#journal.nextStep(input, now, waited), executed: result }
    }
    const now = Date.now()
    const waited = this.#lastResultAt === undefined ? undefined : now - this.#lastResultAt // invariant 5
    return { step: this.#journal.nextStep(input, now - this.#startedAt, waited), executed: undefined }
  }

  async #attemptStep(step: Step, { outputLimit, localCalls, isLastCell }: StepLimit): Promise<StepActivityResult> {
    await this.#snapshots.inProgress
    const isResumed = await this.#sandbox.resume() // invariant 3
    const request = { step, outputLimit, ...defined({ localCalls, isLastCell }) }
    if (!this.#sandbox.isOpen) {
      // The activity that opens a session makes no local calls: an interrupt can't reach the code there.
      const isFirst = step.input.type === 'cell' && localCalls?.maxCalls === 0
      const rebuilt = await this.#openOrRebuild(isFirst ? request : undefined)
      if (rebuilt.type !== 'rebuilt') return rebuilt
    }
    const summary = isResumed ? `resume the session: ${describeStep(step)}` : describeStep(step)
    const send = () => this.#sandbox.executeStep(request, summary)
    const startedAt = Date.now()
    const isStop = step.input.type === 'stop'
    const result = await (isStop ? send() : this.interruption.runStep(send, () => this.#sandbox.interrupt(step.number)))
    this.#snapshots.addStepTime(Date.now() - startedAt)
    return result
  }

  /**
   * Opens a new sandbox and repeats the journal in it: from the snapshot, or from the first step when that fails.
   *
   * @param first the next step. When there is no journal, its result may be returned
   */
  async #openOrRebuild(first?: RequestedStep): Promise<StepActivityResult> {
    const result = await this.#rebuild('', first)
    if (result.type !== 'restore_failed') return result
    await this.#sandbox.discard()
    this.#journal.forgetSnapshot()
    this.#snapshots.recordFailure()
    return this.#rebuild(`; the snapshot was of no use: ${result.reason}`)
  }

  async #rebuild(note: string, first?: RequestedStep): Promise<StepActivityResult> {
    const { length, steps: recorded, stepsToRepeat } = this.#journal
    const ofOpen = length === 0 ? first : undefined
    const executed = await this.interruption.runCancellable(() => this.#sandbox.open(ofOpen))
    if (executed === 'interrupted') return { type: 'lost', cause: 'interrupted', reason: interruptedBeforeStart }
    if (length === 0) return executed ?? { type: 'rebuilt' }
    const before = recorded.snapshot ? `restore the snapshot after ${pluralize(recorded.snapshot.steps, 'step')}, ` : ''
    const summary = toTemporalSummary(`${before}repeat ${pluralize(stepsToRepeat.steps, 'recorded step')}${note}`)
    const input = { recorded, cellsToRepeat: stepsToRepeat.cells, step: null, outputLimit: 0 }
    return this.#sandbox.executeStep(input, summary)
  }

  /**
   * Removes a sandbox that failed. Does not wait for a host that does not answer: the reaper of that host removes it.
   */
  async #discardFailed(result: StepActivityResult): Promise<void> {
    const why = result.type === 'diverged' ? `close the session, which diverged: ${result.reason}` : 'close the session'
    const discarded = this.#sandbox.discard(toTemporalSummary(why))
    if (result.type === 'lost' && result.hostUnreachable) discarded.catch(() => undefined)
    else await discarded
  }
}

/** Returns the result for a cell that was not executed because an earlier cell did not repeat its steps. */
function withoutCodeRun(result: DivergedResult): DivergedResult {
  return { ...result, reason: `${result.reason}; nothing of the code of this cell was run` }
}

type DivergedResult = Extract<StepActivityResult, { type: 'diverged' }>
