/*
 * Deferred calls: calls that get their result, or their approval, later, by an update of the workflow.
 *
 * Owns: a deferred call from the scheduling of its activity until its caller takes the outcome, its expiry, and its
 * token. `call-tool.ts` and `approvals.ts` run the activity, `complete-call.ts` binds the update, `deferred-outcome.ts`
 * says what a result or an expiry means.
 * Boundary: a call is known by its key. Nothing here depends on cells, or on the code that waits for an outcome.
 *
 * Invariants:
 * 1. A waiting call holds no slot of `callSlots` and no activity. All waiting calls share one Temporal timer.
 * 2. A call has one outcome: the first of a valid result, a failure, and the expiry. A result counts as first when its
 *    check began before the expiry. A result that is not valid changes nothing.
 * 3. A result that arrives while the activity runs is kept, and replaces the outcome of the activity.
 * 4. Only the token of a call completes it: its signature is made with a secret of the run.
 * 5. The state has every waiting call, and every outcome that its caller has not taken. No result is accepted while the
 *    run continues as new.
 * 6. With an audit log, the decision on a call is stored there before the code gets the outcome.
 */

import { CancellationScope, condition } from '@temporalio/workflow'
import { signCall } from '../../common/calls/call-identity.js'
import type { CallDecision, ToolCallInput } from '../../common/calls/calls.js'
import type {
  CompleteCallInput,
  DeferredCallsState,
  SettledCall,
  WaitingCall,
} from '../../common/calls/deferred-calls.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { RunConfig } from '../../common/runs/run-config.js'
import type { StoredBytes } from '../run/stored-bytes.js'
import { auditCallEvent } from '../temporal/activities.js'
import { DurableTimer } from '../temporal/durable-timer.js'
import type { Semaphore } from '../temporal/semaphore.js'
import { rejection } from '../temporal/rejection.js'
import { expiryOutcome, noLongerWaiting, outcomeOf, resultRole } from './deferred-outcome.js'

/** Settled calls that are remembered. A request for an older one is rejected with `CALL_NOT_FOUND`. */
const maxSettled = 1_000

type Waiting = Pick<WaitingCall, 'since' | 'expiresAt'>

/** The parts of a call that identify it. */
type CallIdentity = Pick<ToolCallInput, 'tool' | 'caller' | 'position' | 'idempotencyKey'>

interface DeferredCall extends CallIdentity {
  readonly isApproval: boolean
  /** Undefined while the activity runs. */
  waiting: Waiting | undefined
  outcome: CallOutcome | undefined
  /** True while a result is being checked, or while the audit log stores the decision. */
  isDeciding: boolean
}

/** The parts of a run that deferred calls need. */
interface RunParts {
  readonly config: RunConfig
  readonly stored: StoredBytes
  readonly callSlots: Semaphore
}

/** The deferred calls of a run; see the header. */
export class DeferredCalls {
  readonly #run: RunParts
  /** Key: the idempotency key of the call. */
  readonly #calls = new Map<string, DeferredCall>()
  #settled: readonly SettledCall[]
  readonly #timer = new DurableTimer()
  /** The scope of the whole run: the cancellation of one call does not cancel the timer. */
  readonly #timerScope = new CancellationScope()
  #waitedMs: number
  /** The time from which on at least one call has waited without a break; undefined when none waits. */
  #waitingSince: number | undefined
  #isClosed = false

  /** @param state of the same run in the execution before this one */
  constructor(run: RunParts, state?: DeferredCallsState) {
    this.#run = run
    this.#settled = state?.settled ?? []
    this.#waitedMs = state?.waitedMs ?? 0
    for (const { since, expiresAt, outcome, isApproval = false, ...identity } of state?.waiting ?? []) {
      const call = { ...identity, isApproval, waiting: { since, expiresAt }, outcome, isDeciding: false }
      this.#calls.set(identity.idempotencyKey, call)
    }
    if (this.#calls.size > 0) this.#onChange()
  }

  /** Read when no activity of a call is in progress. Is undefined when there was no deferred call. */
  get state(): DeferredCallsState | undefined {
    if (this.#calls.size === 0 && this.#settled.length === 0) return undefined
    return {
      waiting: [...this.#calls.values()].flatMap(({ tool, caller, position, idempotencyKey, ...call }) => {
        const { isApproval, waiting, outcome } = call
        const identity = { tool, caller, position, idempotencyKey, ...(isApproval && { isApproval }) }
        return waiting ? [{ ...identity, ...waiting, ...(outcome && { outcome }) }] : []
      }),
      settled: this.#settled,
      waitedMs: this.waitedMs,
    }
  }

  /** Number of calls without an outcome, including those with an activity in progress. */
  get size(): number {
    return this.#open.length
  }

  /** The calls that wait for their result, or for their approval. */
  get waiting(): readonly (Waiting & Pick<DeferredCall, 'isApproval'>)[] {
    return this.#open.flatMap(({ waiting, isApproval }) => (waiting ? [{ ...waiting, isApproval }] : []))
  }

  /** Milliseconds during which at least one call waited. */
  get waitedMs(): number {
    return this.#waitedMs + (this.#waitingSince === undefined ? 0 : Date.now() - this.#waitingSince)
  }

  /** Returns when a call began to wait and when it expires; undefined while its activity runs. */
  waitOf(idempotencyKey: string): Waiting | undefined {
    return this.#calls.get(idempotencyKey)?.waiting
  }

  has(idempotencyKey: string): boolean {
    return this.#calls.has(idempotencyKey)
  }

  /** Adds a call before its activity is scheduled. From now on the token of the call is valid. */
  begin({ tool, caller, position, idempotencyKey }: CallIdentity, isApproval = false): void {
    const identity = { tool, caller, position, idempotencyKey, isApproval }
    this.#calls.set(idempotencyKey, { ...identity, waiting: undefined, outcome: undefined, isDeciding: false })
  }

  /** Called when the activity of a call has succeeded: the call waits until its expiry. */
  startWaiting(idempotencyKey: string, expiresMs: number): void {
    const call = this.#calls.get(idempotencyKey)
    if (!call) return
    const since = Date.now()
    call.waiting = { since, expiresAt: since + expiresMs }
    this.#onChange()
  }

  /**
   * Called when the activity of a call has failed: the call ends. Returns the outcome that arrived meanwhile, if any.
   */
  async abandon(idempotencyKey: string): Promise<CallOutcome | undefined> {
    while (this.#isDeciding(idempotencyKey)) await condition(() => !this.#isDeciding(idempotencyKey))
    const call = this.#calls.get(idempotencyKey)
    this.#calls.delete(idempotencyKey)
    return call?.outcome
  }

  /**
   * Waits for the outcome of a call.
   *
   * @throws CancelledFailure when the scope of the call is cancelled: then the call is dropped
   */
  async waitForOutcome(idempotencyKey: string): Promise<void> {
    const call = this.#calls.get(idempotencyKey)
    if (!call) return
    try {
      await condition(() => call.outcome !== undefined)
    } catch (thrown) {
      this.#calls.delete(idempotencyKey)
      this.#onChange()
      throw thrown
    }
  }

  outcomeOf(idempotencyKey: string): CallOutcome | undefined {
    return this.#calls.get(idempotencyKey)?.outcome
  }

  /** Returns the outcome of a call after {@link waitForOutcome}. The caller records it before it awaits anything. */
  takeOutcome(idempotencyKey: string): CallOutcome {
    const outcome = this.#calls.get(idempotencyKey)?.outcome
    this.#calls.delete(idempotencyKey)
    return outcome ?? { status: 'cancelled', message: 'the call was dropped' }
  }

  /** Returns whether this run made the token. */
  hasSigned({ idempotencyKey, signature }: Pick<CompleteCallInput, 'idempotencyKey' | 'signature'>): boolean {
    const { completionSecret } = this.#run.config
    return completionSecret !== undefined && signCall(completionSecret, idempotencyKey) === signature
  }

  /**
   * Validates an update.
   *
   * @throws ApplicationFailure when it is rejected; a rejected update leaves no event in the history
   */
  validate(input: CompleteCallInput): void {
    if (this.#isRepeated(input)) return
    this.#assertCompletable(input)
    if (this.#run.callSlots.isPaused) throw rejection('RUN_BUSY', 'the run continues as new')
  }

  /**
   * Completes a call. A second completion with the same result does nothing.
   *
   * @throws ApplicationFailure CALL_NOT_FOUND, CALL_COMPLETED, CALL_EXPIRED; ActivityFailure when the result is not
   *   valid, or the audit log can't store the decision
   */
  async complete(input: CompleteCallInput): Promise<void> {
    const { idempotencyKey, digest, result, by } = input
    while (this.#isDeciding(idempotencyKey)) await condition(() => !this.#isDeciding(idempotencyKey))
    if (this.#isRepeated(input)) return
    this.#assertCompletable(input)
    const call = this.#calls.get(idempotencyKey)
    if (!call) return
    const [positive, negative] = call.isApproval
      ? (['approved', 'denied'] as const)
      : (['completed', 'failed'] as const)
    const decision = result.type === 'value' ? positive : negative
    let outcome: CallOutcome
    call.isDeciding = true
    try {
      outcome = await outcomeOf(this.#run, call, result)
      await this.#audit(call, { decision, digest, ...(by !== undefined && { by }) })
    } catch (thrown) {
      call.isDeciding = false
      this.#onChange() // the call may have expired meanwhile
      throw thrown
    }
    if (this.#calls.get(idempotencyKey) !== call) throw noLongerWaiting()
    this.#settle(call, outcome, digest)
    this.#onChange()
  }

  /** Stops all calls: from now on no call is completed, and none expires. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#timer.close()
  }

  get #open(): readonly DeferredCall[] {
    return [...this.#calls.values()].filter(({ outcome }) => outcome === undefined)
  }

  /**
   * Returns whether a completion has to wait. Several completions may wait, and the first of them may decide again.
   * Nothing waits for a dropped call.
   */
  #isDeciding(idempotencyKey: string): boolean {
    return this.#calls.get(idempotencyKey)?.isDeciding === true
  }

  /** Reports an event to the audit log of the workers, if they have one. */
  async #audit({ tool, caller, position, idempotencyKey }: CallIdentity, decision: CallDecision): Promise<void> {
    const { isAudited, context, timeouts } = this.#run.config
    if (!isAudited) return
    const call = { tool, caller, position, idempotencyKey, ...(context && { context }) }
    const input = { ...call, event: { kind: 'call.decided', ...decision } } as const
    await auditCallEvent(input, timeouts, resultRole(this.#run.config))
  }

  #isRepeated({ idempotencyKey, digest }: CompleteCallInput): boolean {
    return this.#settledCall(idempotencyKey)?.digest === digest
  }

  #assertCompletable({ idempotencyKey }: CompleteCallInput): void {
    const settled = this.#settledCall(idempotencyKey)
    if (settled?.digest === null) throw rejection('CALL_EXPIRED', 'the call has expired')
    if (settled) throw rejection('CALL_COMPLETED', 'the call already has another result')
    if (this.#isClosed || !this.#calls.has(idempotencyKey)) throw noLongerWaiting()
  }

  #settledCall(idempotencyKey: string): SettledCall | undefined {
    return this.#settled.find((each) => each.idempotencyKey === idempotencyKey)
  }

  #settle(call: DeferredCall, outcome: CallOutcome, digest: string | null): void {
    const { idempotencyKey } = call
    call.outcome = outcome
    call.isDeciding = false
    this.#settled = [...this.#settled.slice(-(maxSettled - 1)), { idempotencyKey, digest }]
  }

  /** Settles expired calls, counts the time of waiting, and schedules the next expiry. */
  #onChange(): void {
    const now = Date.now()
    let next = Infinity
    for (const call of this.#calls.values()) {
      if (call.outcome || call.isDeciding || !call.waiting) continue
      const { expiresAt } = call.waiting
      if (expiresAt > now) next = Math.min(next, expiresAt)
      else if (this.#run.config.isAudited) void this.#timerScope.run(() => this.#auditAndExpire(call))
      else this.#settle(call, expiryOutcome(this.#run.config, call), null)
    }
    this.#waitedMs = this.waitedMs
    this.#waitingSince = this.waiting.length === 0 ? undefined : now
    const schedule = () => this.#timer.schedule(next, 'expiry of a deferred call', () => this.#onChange())
    if (!this.#isClosed) void this.#timerScope.run(() => Promise.resolve(schedule()))
  }

  async #auditAndExpire(call: DeferredCall): Promise<void> {
    call.isDeciding = true
    // The call has expired, even when the log can't store that.
    await this.#audit(call, { decision: 'expired' }).catch(() => undefined)
    if (this.#calls.get(call.idempotencyKey) !== call) return
    this.#settle(call, expiryOutcome(this.#run.config, call), null)
    this.#onChange()
  }
}
