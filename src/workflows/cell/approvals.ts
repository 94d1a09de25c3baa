/*
 * Approvals: calls that a person must approve before they start.
 *
 * Owns: what a run remembers of approvals. `deferred-calls.ts` has the calls that wait, with expiry and tokens: an
 * approval is completed like the result of a deferred call.
 *
 * Invariants:
 * 1. A call of a tool with a rule starts only after activity `tool.approval` has said that it needs no approval, or
 *    after an approval.
 * 2. A request is made once for each call: a rebuild, a reset and continue-as-new find the call by its idempotency key.
 * 3. A call that waits holds no slot of the run or of its tool, and no activity.
 */

import { ActivityFailure, isCancellation, workflowInfo } from '@temporalio/workflow'
import { describeReport, noCompensations } from '../../common/calls/compensation.js'
import { type ApprovalsState, approvalKey, parseApproval } from '../../common/calls/approvals.js'
import { deriveIdempotencyKey, signCall } from '../../common/calls/call-identity.js'
import { type Caller, callerIdentity, type CallPosition } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import { approvalActivityId, callActivityId } from '../../common/names.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { showCall } from '../progress.js'
import type { Run } from '../run.js'
import { requestApproval } from '../temporal/activities.js'
import { publishWait } from '../temporal/search-attributes.js'
import { type OnWait, runInSlot } from './pending-calls.js'

interface GatedCall {
  readonly call: DescribedCall
  readonly caller: Caller
  readonly position: CallPosition
}

/** The approvals of a run; see the header. */
export class Approvals {
  /** By idempotency key: calls that may start, with the arguments that replace theirs. */
  readonly #approved: Map<string, JsonObject | null>
  readonly #remembered: Set<string>

  /** @param state of the same run in the execution before this one */
  constructor(state: ApprovalsState = { approved: {}, remembered: [] }) {
    this.#approved = new Map(Object.entries(state.approved))
    this.#remembered = new Set(state.remembered)
  }

  /** Undefined when there was no approval. */
  get state(): ApprovalsState | undefined {
    if (this.#approved.size === 0 && this.#remembered.size === 0) return undefined
    return { approved: Object.fromEntries(this.#approved), remembered: [...this.#remembered] }
  }

  /** Whether a call is approved, or waits for its approval. */
  has(run: Run, call: DescribedCall, position: CallPosition): boolean {
    const key = deriveIdempotencyKey(run.identity, position, call.digest)
    return this.#approved.has(key) || run.deferredCalls.has(approvalKey(key))
  }

  /**
   * Executes a call when it is approved, with the arguments of the approval. Otherwise returns why it must not run.
   *
   * @throws what `execute` throws, and CancelledFailure when the scope of the call is cancelled
   */
  async run(
    run: Run,
    { call, caller, position }: GatedCall,
    onWait: OnWait | undefined,
    execute: (call: DescribedCall) => Promise<void>,
  ): Promise<CallOutcome | undefined> {
    const key = deriveIdempotencyKey(run.identity, position, call.digest)
    // A call that waits already keeps waiting, also when the run has continued as new meanwhile.
    const isRemembered = this.#remembered.has(call.tool) && !run.deferredCalls.has(approvalKey(key))
    if (!isRemembered && !this.#approved.has(key)) {
      const denied = await this.#ask(run, { call, caller, position }, key, onWait)
      if (denied) return denied
    }
    const args = this.#approved.get(key)
    if (args) {
      const { isParsed: _, ...rest } = call
      await execute({ ...rest, arguments: args })
    } else await execute(call)
    this.#approved.delete(key)
    return undefined
  }

  /** Returns undefined when the call is approved, or needs no approval. */
  async #ask(run: Run, gated: GatedCall, key: string, onWait: OnWait | undefined): Promise<CallOutcome | undefined> {
    const { deferredCalls, callSlots } = run
    const { call, position } = gated
    const waitKey = approvalKey(key)
    // In the execution before this one the call may have begun to wait.
    if (!deferredCalls.has(waitKey)) {
      const outcome = await runInSlot(callSlots, onWait, () => this.#request(run, gated, key))
      if (outcome) return outcome
    }
    if (!deferredCalls.has(waitKey)) return undefined
    onWait?.('approval')
    const wait = deferredCalls.waitOf(waitKey)
    const closeCall = showCall(run, callActivityId(position), call.summary, wait && { ...wait, waitsFor: 'approval' })
    publishWait(run, false)
    try {
      await deferredCalls.waitForOutcome(waitKey)
    } finally {
      closeCall()
      onWait?.(undefined)
      publishWait(run, false)
    }
    const report = await this.#compensateIfRejected(run, deferredCalls.outcomeOf(waitKey), onWait)
    return this.#record(deferredCalls.takeOutcome(waitKey), call.tool, key, report)
  }

  /**
   * Compensates the calls of the run before a call that was denied, if the denial says so. The outcome is not taken
   * meanwhile: when the run continues as new before that, the next execution finds it.
   */
  async #compensateIfRejected(run: Run, outcome: CallOutcome | undefined, onWait: OnWait | undefined): Promise<string> {
    if (outcome?.status !== 'denied' || !outcome.compensates) return ''
    const { compensations, callSlots } = run
    await runInSlot(callSlots, onWait, () => compensations.compensateCompleted(run))
    return ` (${describeReport(compensations.report ?? noCompensations)})`
  }

  /** Returns undefined when the call waits, was approved meanwhile, or needs no approval. */
  async #request(run: Run, { call, caller, position }: GatedCall, key: string): Promise<CallOutcome | undefined> {
    const { deferredCalls, config } = run
    const { tool, arguments: args, summary } = call
    const waitKey = approvalKey(key)
    const { firstExecutionRunId } = workflowInfo()
    const signature = signCall(config.completionSecret ?? '', waitKey)
    const { expiresMs } = config.approvals
    const identity = { tool, caller, position }
    deferredCalls.begin({ ...identity, idempotencyKey: waitKey }, true)
    try {
      const input = { ...identity, idempotencyKey: key, arguments: args, summary, ...callerIdentity(config) }
      const deferred = { firstExecutionRunId, signature }
      const id = approvalActivityId(position)
      const { isNeeded } = await requestApproval({ ...input, deferred, expiresMs }, config.timeouts, id)
      if (isNeeded) {
        deferredCalls.startWaiting(waitKey, expiresMs)
        return undefined
      }
    } catch (thrown) {
      const decided = await deferredCalls.abandon(waitKey)
      if (isCancellation(thrown) || !(thrown instanceof ActivityFailure)) throw thrown
      return decided
        ? this.#record(decided, tool, key, '')
        : { status: 'denied', message: `${tool}: ${reasonOf(thrown)}` }
    }
    await deferredCalls.abandon(waitKey)
    this.#approved.set(key, null)
    return undefined
  }

  /** @param report for the code and the model, when the calls before this one were compensated */
  #record(outcome: CallOutcome, tool: string, key: string, report: string): CallOutcome | undefined {
    if (outcome.status === 'denied') return { status: 'denied', message: `${outcome.message}${report}` }
    if (outcome.status !== 'ok') return outcome
    const approval = parseApproval(outcome.value)
    this.#approved.set(key, approval?.arguments ?? null)
    if (approval?.remember === true) this.#remembered.add(tool)
    return undefined
  }
}

function reasonOf({ cause, message }: ActivityFailure): string {
  return cause?.message ?? message
}
