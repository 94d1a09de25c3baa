/*
 * Completions: the decisions and the later results of calls, which arrive by an update of the workflow.
 *
 * Owns: tokens, the first outcome of a call, expiry, and the time during which calls wait. `completion-outcome.ts` says
 * what a result or an expiry means.
 * Boundary: `people/approval.ts` and `deferred-call.ts` run the activity that hands out a token, and wait for the outcome.
 *
 * Invariants:
 * 1. All waiting calls share one Temporal timer.
 * 2. A call has one outcome: the first of a valid result, a failure, and the expiry. A result counts as first when its
 *    check began before the expiry. A result that is not valid changes nothing.
 * 3. A result that arrives while the activity runs is kept, and replaces the outcome of the activity.
 * 4. Only the token of a call completes it: its signature is made with a secret of the run.
 * 5. No result is accepted while the run continues as new.
 * 6. With an audit log, the decision on a call is stored there before the code gets the outcome.
 */

import { CancellationScope, condition } from '@temporalio/workflow'
import { approvalKey, isApprovalKey } from '../../common/calls/approvals.js'
import { signCall } from '../../common/calls/call-identity.js'
import type { AuditCallInput } from '../../common/calls/call-activities.js'
import type { CompleteCallInput } from '../../common/calls/deferred-calls.js'
import { parseQuestionKey, questionKey } from '../../common/calls/questions.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import { defined } from '../../common/defined.js'
import type { Run } from '../run/run.js'
import { auditCallEvent } from '../temporal/activities.js'
import { DurableTimer } from '../temporal/durable-timer.js'
import { rejection } from '../temporal/failures.js'
import type { Semaphore } from '../temporal/semaphore.js'
import { answerOutcome, completedOutcome, expiryOutcome } from './completion-outcome.js'
import { noLongerWaiting, resultRole, unanswered } from './completion-outcome.js'
import { questionNumber, type WaitingCall, type WaitingCalls } from './waiting-calls.js'

/** Settled calls that are remembered. A request for an older one is rejected with `CALL_NOT_FOUND`. */
const maxSettled = 1_000

interface SettledCall {
  readonly idempotencyKey: string
  /** Digest of the result; null for an expired call. */
  readonly digest: string | null
}

export interface CompletionsState {
  readonly settled: readonly SettledCall[]
  /** Milliseconds during which at least one call waited. */
  readonly waitedMs: number
}

export class Completions {
  readonly #run: Run
  readonly #calls: WaitingCalls
  readonly #slots: Semaphore
  #settled: readonly SettledCall[]
  /** Calls with a result that is being checked, or with a decision that the audit log stores. */
  readonly #deciding = new Set<WaitingCall>()
  readonly #timer = new DurableTimer()
  /** The scope of the whole run: the cancellation of one call does not cancel the timer. */
  readonly #timerScope = new CancellationScope()
  #waitedMs: number
  /** The time from which on at least one call has waited without a break; undefined when none waits. */
  #waitingSince: number | undefined
  #isClosed = false

  constructor(run: Run, calls: WaitingCalls, slots: Semaphore, state?: CompletionsState) {
    this.#run = run
    this.#calls = calls
    this.#slots = slots
    this.#settled = state?.settled ?? []
    this.#waitedMs = state?.waitedMs ?? 0
    calls.onChange(() => this.#onChange())
    if (calls.expiring.length > 0) this.#onChange()
  }

  get state(): CompletionsState | undefined {
    if (this.#settled.length === 0 && this.waitedMs === 0) return undefined
    return { settled: this.#settled, waitedMs: this.waitedMs }
  }

  /** Milliseconds during which at least one call waited. */
  get waitedMs(): number {
    return this.#waitedMs + (this.#waitingSince === undefined ? 0 : Date.now() - this.#waitingSince)
  }

  hasSigned({ idempotencyKey, signature }: Pick<CompleteCallInput, 'idempotencyKey' | 'signature'>): boolean {
    return this.#run.config.completionSecret !== undefined && this.sign(idempotencyKey) === signature // invariant 4
  }

  /** Returns the signature of the token that completes a call, or decides on its approval. */
  sign(idempotencyKey: string): string {
    return signCall(this.#run.config.completionSecret ?? '', idempotencyKey)
  }

  /**
   * Validates an update.
   *
   * @throws ApplicationFailure when it is rejected; a rejected update leaves no event in the history
   */
  validate(input: CompleteCallInput): void {
    if (this.#isRepeated(input)) return
    this.#completable(input)
    // Invariant 5.
    if (this.#slots.isClosed) throw rejection('RUN_BUSY', 'the run continues as new')
  }

  /**
   * Completes a call. A second completion with the same result does nothing.
   *
   * @throws ApplicationFailure CALL_NOT_FOUND, CALL_COMPLETED, CALL_EXPIRED; ActivityFailure when the result is not
   *   valid, or the audit log can't store the decision
   */
  async complete(input: CompleteCallInput): Promise<void> {
    const { idempotencyKey, digest, result, by } = input
    const waiting = this.#find(idempotencyKey)
    // Several completions may wait, and the first of them decides again. So nothing is awaited after this condition.
    const isDeciding = () => waiting !== undefined && this.#deciding.has(waiting)
    while (isDeciding()) await condition(() => !isDeciding())
    if (this.#isRepeated(input)) return
    const call = this.#completable(input)
    const [positive, negative] = isApprovalKey(idempotencyKey)
      ? (['approved', 'denied'] as const)
      : (['completed', 'failed'] as const)
    const decision = result.type === 'value' ? positive : negative
    let outcome: CallOutcome
    this.#deciding.add(call)
    try {
      outcome =
        parseQuestionKey(idempotencyKey) === undefined
          ? await completedOutcome(this.#run, call, isApprovalKey(idempotencyKey), result)
          : await answerOutcome(this.#run.config, call, result)
      // Invariant 6.
      await this.#audit(call, idempotencyKey, {
        type: 'call.decided',
        decision,
        digest,
        ...defined({ by }),
      })
    } catch (thrown) {
      this.#deciding.delete(call)
      this.#onChange() // the call may have expired meanwhile
      throw thrown
    }
    this.#deciding.delete(call)
    if (!this.#calls.has(call)) throw noLongerWaiting()
    this.#settle(call, idempotencyKey, outcome, digest)
  }

  async waitWhileDeciding(call: WaitingCall): Promise<void> {
    while (this.#deciding.has(call)) await condition(() => !this.#deciding.has(call)) // invariant 3
  }

  /** Stops all calls: from now on no call is completed, and none expires. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#timer.close()
  }

  /** Returns the call that waits, or is about to wait, for what this token brings. */
  #find(idempotencyKey: string): WaitingCall | undefined {
    const ofQuestion = parseQuestionKey(idempotencyKey)
    if (ofQuestion) {
      const asking = this.#calls.get(ofQuestion.idempotencyKey)
      return asking?.state.type === 'question' && questionNumber(asking) === ofQuestion.number ? asking : undefined
    }
    const isApproval = isApprovalKey(idempotencyKey)
    const call = this.#calls.get(isApproval ? idempotencyKey.slice(0, -approvalKey('').length) : idempotencyKey)
    const types = isApproval ? ['asking', 'approval'] : ['announcing', 'result']
    return call && types.includes(call.state.type) ? call : undefined
  }

  /** Reports an event to the audit log of the workers, if they have one. */
  async #audit(
    { tool, caller, position }: WaitingCall,
    idempotencyKey: string,
    event: AuditCallInput['event'],
  ): Promise<void> {
    const { isAudited, context, timeouts } = this.#run.config
    if (!isAudited) return
    const call = { tool, caller, position, idempotencyKey, ...defined({ context }) }
    await auditCallEvent({ ...call, event }, timeouts, resultRole(this.#run.config))
  }

  #isRepeated({ idempotencyKey, digest }: CompleteCallInput): boolean {
    return this.#settledCall(idempotencyKey)?.digest === digest
  }

  #completable({ idempotencyKey }: CompleteCallInput): WaitingCall {
    const settled = this.#settledCall(idempotencyKey)
    if (settled?.digest === null) throw rejection('CALL_EXPIRED', 'the call has expired') // invariant 2
    if (settled) throw rejection('CALL_COMPLETED', 'the call already has another result')
    const call = this.#find(idempotencyKey)
    if (this.#isClosed || !call) throw noLongerWaiting()
    return call
  }

  #settledCall(idempotencyKey: string): SettledCall | undefined {
    return this.#settled.find((each) => each.idempotencyKey === idempotencyKey)
  }

  #settle(call: WaitingCall, idempotencyKey: string, outcome: CallOutcome, digest: string | null): void {
    this.#settled = [...this.#settled.slice(-(maxSettled - 1)), { idempotencyKey, digest }]
    this.#calls.apply(call, { type: 'complete', outcome })
  }

  /** Settles expired calls, counts the time of waiting, and schedules the next expiry. */
  #onChange(): void {
    const now = Date.now()
    let next = Infinity
    for (const call of this.#calls.expiring) {
      if (this.#deciding.has(call)) continue
      if (call.state.expiresAt > now) next = Math.min(next, call.state.expiresAt)
      // The end of the expiry calls this function again.
      else return void this.#timerScope.run(() => this.#expire(call))
    }
    this.#waitedMs = this.waitedMs
    this.#waitingSince = this.#calls.expiring.length === 0 ? undefined : now
    // Invariant 1.
    const schedule = () => this.#timer.schedule(next, 'expiry of a deferred call', () => this.#onChange())
    if (!this.#isClosed) void this.#timerScope.run(() => Promise.resolve(schedule()))
  }

  async #expire(call: WaitingCall): Promise<void> {
    const isApproval = call.state.type === 'approval'
    const isQuestion = call.state.type === 'question'
    const idempotencyKey = waitKeyOf(call)
    if (this.#run.config.isAudited) {
      this.#deciding.add(call)
      this.#onChange()
      // The call has expired, even when the log can't store that.
      await this.#audit(call, idempotencyKey, { type: 'call.expired' }).catch(() => undefined)
      this.#deciding.delete(call)
      if (!this.#calls.has(call)) return
    }
    const outcome = isQuestion ? unanswered : expiryOutcome(this.#run.config, call.tool, isApproval)
    this.#settle(call, idempotencyKey, outcome, null)
  }
}

/** Returns the key of what the call waits for. Its signature is the token. */
export function waitKeyOf(call: WaitingCall): string {
  const { idempotencyKey, state } = call
  if (state.type === 'question') return questionKey(idempotencyKey, questionNumber(call))
  return state.type === 'approval' ? approvalKey(idempotencyKey) : idempotencyKey
}
