/*
 * Approvals: calls that a person must approve before they start.
 *
 * Owns: the approvals that a run has recorded, and those that it remembers for later calls. `deferred-calls.ts` has the
 * calls that wait, with expiry and tokens: an approval is completed like the result of a deferred call.
 *
 * Invariants:
 * 1. A call of a tool with a rule starts only after activity `tool.approval` has said that it needs no approval, or
 *    after an approval.
 * 2. A request is made once for each call: a rebuild, a reset and continue-as-new find the call by its idempotency key.
 * 3. A call that waits holds no slot of the run or of its tool, and no activity.
 * 4. A run remembers the arguments that a person approved, or the key that the tool derives from them. It never
 *    remembers only the name of a tool.
 */

import { ActivityFailure, isCancellation, workflowInfo } from '@temporalio/workflow'
import { describeReport, noCompensations } from '../../common/calls/compensation.js'
import { type ApprovalsState, approvalKey, parseApproval } from '../../common/calls/approvals.js'
import { callDigest, deriveIdempotencyKey, signCall } from '../../common/calls/call-identity.js'
import { type Caller, callerIdentity, type CallPosition } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import { approvalActivityId, callActivityId } from '../../common/names.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { showCall } from '../run/progress.js'
import type { Run } from '../run/run.js'
import { requestApproval } from '../temporal/activities.js'
import { publishWait } from '../run/search-attributes.js'
import { type OnWait, runInSlot } from '../cell/pending-calls.js'

interface GatedCall {
  readonly call: DescribedCall
  readonly caller: Caller
  readonly position: CallPosition
}

/** The approvals of a run; see the header. */
export class Approvals {
  /** Maps the idempotency key of a call that may start to the arguments that replace those of the call; null: none. */
  readonly #approved: Map<string, JsonObject | null>
  /** Digests of calls that need no approval again, and keys of {@link toolKey}, the oldest first. */
  readonly #remembered: Set<string>
  /** Maps the idempotency key of a call that waits to the key under which its tool remembers an approval. */
  readonly #keys: Map<string, string>

  /** @param state of the same run in the execution before this one */
  constructor({ approved, remembered, keys = {} }: ApprovalsState = { approved: {}, remembered: [] }) {
    this.#approved = new Map(Object.entries(approved))
    this.#remembered = new Set(remembered)
    this.#keys = new Map(Object.entries(keys))
  }

  /** Is undefined when the run has no approval to keep. */
  get state(): ApprovalsState | undefined {
    if (this.#approved.size + this.#remembered.size + this.#keys.size === 0) return undefined
    const keys = this.#keys.size === 0 ? {} : { keys: Object.fromEntries(this.#keys) }
    return { approved: Object.fromEntries(this.#approved), remembered: [...this.#remembered], ...keys }
  }

  /** Returns whether a call is approved, or waits for its approval. */
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
    // A call that waits keeps waiting, even when the run has continued as new meanwhile.
    const isRemembered = this.#remembered.has(call.digest) && !run.deferredCalls.has(approvalKey(key))
    if (!isRemembered && !this.#approved.has(key)) {
      const denied = await this.#ask(run, { call, caller, position }, key, onWait)
      if (denied) return denied
    }
    const args = this.#approved.get(key)
    if (args) {
      const { isParsed: _, floats: __, ...rest } = call
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
    return this.#record(deferredCalls.takeOutcome(waitKey), call, key, report)
  }

  /**
   * Compensates the calls of the run before a call that was denied, if the denial says so. The outcome is taken
   * afterwards: when the run continues as new during the compensation, the next execution still finds it.
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
      const remembered = this.#keysOf(tool)
      const request = { ...input, deferred, expiresMs, ...(remembered.length > 0 && { remembered }) }
      const { isNeeded, rememberAs } = await requestApproval(request, config.timeouts, id)
      if (isNeeded) {
        if (rememberAs !== undefined) this.#keys.set(key, rememberAs)
        deferredCalls.startWaiting(waitKey, expiresMs)
        return undefined
      }
    } catch (thrown) {
      const decided = await deferredCalls.abandon(waitKey)
      if (isCancellation(thrown) || !(thrown instanceof ActivityFailure)) throw thrown
      return decided
        ? this.#record(decided, call, key, '')
        : { status: 'denied', message: `${tool}: ${reasonOf(thrown)}` }
    }
    await deferredCalls.abandon(waitKey)
    this.#approved.set(key, null)
    return undefined
  }

  /** @param report for the code and the model, when the calls before this one were compensated */
  #record(outcome: CallOutcome, call: DescribedCall, key: string, report: string): CallOutcome | undefined {
    const rememberAs = this.#keys.get(key)
    this.#keys.delete(key)
    if (outcome.status === 'denied') return { status: 'denied', message: `${outcome.message}${report}` }
    if (outcome.status !== 'ok') return outcome
    const approval = parseApproval(outcome.value)
    const args = approval?.arguments
    this.#approved.set(key, args ?? null)
    if (approval?.remember !== true) return undefined
    this.#remember(args ? callDigest(call.tool, args) : call.digest)
    // The key is that of the arguments that the code gave, not of those that replace them.
    if (rememberAs !== undefined && !args) this.#remember(toolKey(call.tool, rememberAs))
    return undefined
  }

  #remember(approved: string): void {
    this.#remembered.add(approved)
    const [oldest] = this.#remembered
    if (this.#remembered.size > maxRemembered && oldest !== undefined) this.#remembered.delete(oldest)
  }

  #keysOf(tool: string): readonly string[] {
    const prefix = toolKey(tool, '')
    return [...this.#remembered].filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length))
  }
}

/** When an older approval is dropped, the next call like that needs a new approval. */
const maxRemembered = 1_000

/** Neither a digest nor the name of a tool has a line break. */
function toolKey(tool: string, key: string): string {
  return `${tool}\n${key}`
}

function reasonOf({ cause, message }: ActivityFailure): string {
  return cause?.message ?? message
}
