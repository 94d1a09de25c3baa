import { ActivityFailure, ApplicationFailure, CancellationScope, patched } from '@temporalio/workflow'
import { digestOf } from '../common/call-key.js'
import type { BackendChoice, RunPlan } from '../common/plan.js'
import { stepLimits } from '../common/limits.js'
import type { AdvanceAnswer, AdvanceInput, SessionRef, Step, StepInput, TakenAnswer } from '../common/steps.js'
import { fitSummary, plural } from '../common/text.js'
import { advanceSession, appendJournal, closeSession, interruptSession, openSession, parkSession } from './engine.js'
import { Interruption } from './interruption.js'
import { hostIsGone, isFenced } from './host-failure.js'
import { Journal, type JournalState } from './journal.js'
import type { Run } from './run.js'
import type { SessionState } from './session-state.js'
import { Snapshots } from './snapshots.js'
import { sessionTools } from './session-tools.js'
import { notBegun, summaryOf } from './step-summary.js'
import { counted, payloadBytes, referredBytes, type StoredBytes } from './stored-bytes.js'

/** Changes that old histories do not know of. */
const patches = {
  /** Workers that die in the middle of rebuilds say nothing against the program. */
  fencedIsNoCrash: 'fenced-is-no-crash',
} as const

/** Sandboxes at one step that were ahead of this run, before that is taken for made up. Workers that die while they rebuild bring some. */
const fencedPerStep = 10

/** Sandboxes lost in a row at one step before the program itself is taken for the cause. */
const rebuildsPerStep = 2

/** The workflow's side of one sandbox session: steps go in, answers come out, whatever happens to the sandbox. */
export class Session {
  readonly #plan: RunPlan
  readonly #stored: StoredBytes
  readonly #startedAt: number
  #answeredAt: number | undefined
  readonly #journal: Journal
  readonly #snapshots: Snapshots
  /** Of the current cell. */
  readonly interruption = new Interruption()
  #ref: SessionRef
  /** Undefined while there is no sandbox. */
  #hostQueue: string | undefined
  #hasStubs = true // of the run's tools, in the sandbox
  #isParked = false
  /** Whether the host of the sandbox can keep it while it is parked. */
  #keepsParked = false
  /** Settles when the sandbox is kept, or gone; undefined while it is not parked that way. */
  #keeping: Promise<void> | undefined
  /** Settles when every sandbox that was given back is gone. */
  #parked: Promise<unknown> = Promise.resolve()

  /** @param state of the same session in an earlier run of the chain */
  constructor(run: Run, state?: SessionState) {
    this.#plan = run.plan
    this.#stored = run.stored
    const { workflowId, firstExecutionRunId } = run.identity
    const id = digestOf([workflowId, firstExecutionRunId]).slice(0, 20)
    this.#startedAt = state?.startedAt ?? Date.now()
    this.#ref = { ...(state?.ref ?? { id, epoch: 0, backend: run.plan.backend }), startedAt: this.#startedAt }
    this.#hostQueue = state?.hostQueue ?? undefined
    this.#isParked = state?.isParked ?? false
    this.#keepsParked = state?.keepsParked ?? false
    this.#answeredAt = state?.answeredAt
    this.#journal = new Journal(state?.journal)
    this.#snapshots = new Snapshots(run.plan, this.#journal, state?.snapshots)
  }

  /** Where its sandbox stands. The backend is the real one as soon as there was a sandbox. */
  get sandbox(): { readonly state: 'none' | 'open' | 'parked'; readonly backend: BackendChoice } {
    const { backend } = this.#ref
    if (this.#isParked || this.#keeping !== undefined) return { state: 'parked', backend }
    return { state: this.#hostQueue === undefined ? 'none' : 'open', backend }
  }

  /**
   * Runs the program on to its next suspension or its end. A lost sandbox is rebuilt from the journal and the step taken
   * again. `lost` is answered only when that does not help, and then the session goes on without the current cell;
   * `diverged` when the journal can't be repeated, and then it goes on empty.
   *
   * @param outputRoom characters of output the answer may carry
   */
  async advance(input: StepInput, outputRoom: number): Promise<TakenAnswer> {
    if (input.type === 'cell') this.interruption.clear()
    const now = Date.now()
    const waited = this.#answeredAt === undefined ? undefined : now - this.#answeredAt
    const step = this.#journal.next(input, now - this.#startedAt, waited)
    let fenced = 0
    for (let losses = 1; ;) {
      const answer = await this.#attempt(step, outputRoom)
      if (answer.type === 'repeated' || answer.type === 'unrestored') {
        throw ApplicationFailure.nonRetryable('a step was not taken', 'INTERNAL')
      }
      if (answer.type !== 'lost' && answer.type !== 'diverged') {
        this.#journal.record(step, answer)
        this.#answeredAt = Date.now()
        // Its code has had it: if it goes on all the same, it caught it.
        if (answer.interruptedAfterMs !== undefined) this.interruption.clear()
        if (this.#journal.isLarge) await this.#keepJournal()
        return answer
      }
      await this.#leave(answer)
      const isAhead = answer.type === 'lost' && answer.fenced
      if (isAhead && fenced++ < fencedPerStep && patched(patches.fencedIsNoCrash)) continue
      const hopeless =
        fenced > fencedPerStep || answer.type === 'diverged' || answer.cause !== 'gone' || losses > rebuildsPerStep
      if (hopeless) {
        if (answer.type === 'diverged') this.#journal.clear()
        else this.#journal.dropCell()
        return answer.type === 'diverged' && input.type === 'cell' ? notBegun(answer) : answer
      }
      losses += 1
    }
  }

  /**
   * To be called between two cells, when no call is open: when a rebuild would be long, the state of the program is kept meanwhile. That it
   * can't be changes nothing.
   */
  snapshot(): void {
    if (this.#hostQueue !== undefined && !this.#keeping) this.#snapshots.begin(this.#ref, this.#hostQueue)
  }

  /** Forgets the current cell and its sandbox; the next cell starts from the state before it. */
  async dropCell(): Promise<void> {
    this.#journal.dropCell()
    await this.#discard()
  }

  /** Forgets all cells and the sandbox; the next cell starts empty. */
  async dropAll(): Promise<void> {
    this.#journal.clear()
    await this.#discard()
  }

  /**
   * Gives the sandbox back until the next step, which finds everything as it was: from its host's disk where that can keep it, else rebuilt
   * from the journal.
   */
  park(): void {
    const hostQueue = this.#hostQueue
    if (hostQueue === undefined) return
    if (this.#keepsParked) {
      this.#keeping = CancellationScope.nonCancellable(() => this.#keep(hostQueue))
      return
    }
    this.#isParked = true
    const discarded = CancellationScope.nonCancellable(() =>
      this.#discard('park the session', this.#snapshots.underWay),
    )
    this.#parked = Promise.all([this.#parked, discarded])
  }

  /** Ends the session. Never cancelled, and a host that is gone does not fail the run. */
  async close(): Promise<void> {
    this.#snapshots.cancel()
    await CancellationScope.nonCancellable(async () => {
      await this.#parked
      await this.#keeping
      await this.#discard()
    })
  }

  /** All of it, for the next run of the chain: small, since the journal is kept elsewhere. */
  async handOver(): Promise<SessionState> {
    if (this.#snapshots.underWay) await this.#snapshots.underWay
    await this.#parked
    await this.#keeping
    const journal = await this.#keepJournal()
    return {
      ref: this.#ref,
      hostQueue: this.#hostQueue ?? null,
      isParked: this.#isParked,
      keepsParked: this.#keepsParked,
      startedAt: this.#startedAt,
      ...(this.#answeredAt === undefined ? {} : { answeredAt: this.#answeredAt }),
      journal,
      snapshots: this.#snapshots.state,
    }
  }

  #keepJournal(): Promise<JournalState> {
    return this.#journal.keep(counted(this.#stored, appendJournal(this.#plan.timings)))
  }

  async #attempt(step: Step, outputRoom: number): Promise<AdvanceAnswer> {
    if (this.#snapshots.underWay) await this.#snapshots.underWay
    const isKept = this.#keeping !== undefined && (await this.#untilKept(this.#keeping))
    if (this.#hostQueue === undefined) {
      const rebuilt = await this.#open()
      if (rebuilt.type !== 'repeated') return rebuilt
    }
    const summary = isKept ? `wake the session: ${summaryOf(step)}` : summaryOf(step)
    const send = () => this.#send({ step, outputRoom }, summary)
    const begunAt = Date.now()
    const isStop = step.input.type === 'stop'
    const answer = await (isStop ? send() : this.interruption.around(send, () => this.#interrupt(step)))
    this.#snapshots.took(Date.now() - begunAt)
    return answer
  }

  async #interrupt({ number }: Step): Promise<void> {
    await interruptSession({ session: this.#ref, step: number }, this.#hostQueue ?? '', this.#plan.timings)
  }

  async #keep(hostQueue: string): Promise<void> {
    if (this.#snapshots.underWay) await this.#snapshots.underWay
    try {
      if (await parkSession(this.#ref, hostQueue, this.#plan.timings)) return
      this.#isParked = true
      this.#hostQueue = undefined
    } catch (thrown) {
      if (!(thrown instanceof ActivityFailure)) throw thrown
      // The host does not answer. Whether the sandbox runs, is kept or is gone, the next step finds out.
    }
  }

  /** True when the sandbox was parked, and the next step is to wake it. */
  async #untilKept(keeping: Promise<void>): Promise<boolean> {
    await keeping
    this.#keeping = undefined
    return this.#hostQueue !== undefined
  }

  /** A fresh sandbox, brought to where the journal ends: by a snapshot if there is one, and if that does not help, without. */
  async #open(): Promise<AdvanceAnswer> {
    const answer = await this.#rebuild('')
    if (answer.type !== 'unrestored') return answer
    await this.#discard()
    this.#journal.forgetSnapshot()
    this.#snapshots.failed()
    return this.#rebuild(`; the snapshot was of no use: ${answer.reason}`)
  }

  async #rebuild(note: string): Promise<AdvanceAnswer> {
    this.#ref = { ...this.#ref, epoch: this.#ref.epoch + 1 }
    const { limits, timings } = this.#plan
    const after = this.#ref.epoch === 1 ? 'nothing' : this.#isParked ? 'parking' : 'loss'
    this.#hasStubs = false
    const opened = await openSession(
      { session: this.#ref, limits, ...sessionTools(this.#plan, false), after },
      timings,
      this.#openSummary(),
    )
    this.#isParked = false
    this.#keepsParked = opened.keepsParked ?? false
    this.#hostQueue = opened.hostQueue
    this.#ref = { ...opened.session, startedAt: this.#startedAt }
    const { length, steps: recorded, repeated } = this.#journal
    if (length === 0) return { type: 'repeated' }
    const before = recorded.snapshot ? `restore the snapshot after ${plural(recorded.snapshot.steps, 'step')}, ` : ''
    const summary = fitSummary(`${before}repeat ${plural(repeated.steps, 'recorded step')}${note}`)
    return this.#send({ recorded, recordedCells: repeated.cells, step: null, outputRoom: 0 }, summary)
  }

  async #send(input: Omit<AdvanceInput, 'session'>, summary: string): Promise<AdvanceAnswer> {
    const { timings } = this.#plan
    const limits = stepLimits(this.#plan.limits)
    try {
      const given = { session: this.#ref, ...sessionTools(this.#plan, this.#hasStubs), limits, ...input }
      this.#stored.bytes += payloadBytes(given)
      const answer = await advanceSession(given, this.#hostQueue ?? '', timings, summary)
      this.#stored.bytes += payloadBytes(answer) + referredBytes(answer)
      this.#hasStubs = true
      return answer
    } catch (thrown) {
      if (isFenced(thrown))
        return { type: 'lost', cause: 'gone', reason: 'the sandbox is ahead of this run', fenced: true }
      const reason = hostIsGone(thrown)
      if (reason === undefined) throw thrown
      return { type: 'lost', cause: 'gone', reason, hostGone: true }
    }
  }

  /** Gets rid of a sandbox that failed. A host that does not answer is not waited for: its reaper does the rest. */
  async #leave(answer: AdvanceAnswer): Promise<void> {
    const why = answer.type === 'diverged' ? `close the session, which diverged: ${answer.reason}` : 'close the session'
    const discarded = this.#discard(fitSummary(why))
    if (answer.type === 'lost' && answer.hostGone) discarded.catch(() => undefined)
    else await discarded
  }

  #openSummary(): string {
    const { epoch, backend } = this.#ref
    if (epoch === 1) return backend === 'auto' ? 'open a session' : `open a session (${backend})`
    return `${this.#isParked ? 'wake' : 'rebuild'} the session (${epoch})`
  }

  async #discard(summary = 'close the session', after?: Promise<void>): Promise<void> {
    const hostQueue = this.#hostQueue
    this.#hostQueue = undefined
    if (hostQueue === undefined) return
    if (after) await after
    try {
      await closeSession(this.#ref, hostQueue, this.#plan.timings, summary)
    } catch (thrown) {
      if (!(thrown instanceof ActivityFailure)) throw thrown
      // The host does not answer; its reaper removes what expired.
    }
  }
}
