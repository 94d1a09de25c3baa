/*
 * Slots of tools with a concurrency limit, in one run.
 *
 * Owns: a limited call from its request for a slot until the limiter has the slot back.
 * Boundary: the state of a call is in `WaitingCalls`. `src/workflows/tool-limit` decides which call gets a slot.
 *
 * Invariants:
 * 1. A call begins after the limiter has granted its slot, and gives the slot back when it has its outcome, or is
 *    cancelled.
 * 2. A run requests at most as many slots of a tool at once as the tool has. So a run with many calls leaves room for
 *    others, and the limiter knows few of them.
 * 3. A request without an answer is repeated every 5 minutes: the limiter may have been terminated.
 * 4. The next execution of a run sends again every request and release that the limiter has not confirmed; the limiter
 *    ignores repetitions.
 */

import { CancellationScope, condition, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow'
import type { CallIdentity } from '../../common/calls/calls.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { SlotAnswer, SlotRelease } from '../../common/calls/tool-slots.js'
import { toolLimitId, toolLimitMessages } from '../../common/names.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import type { CallWait } from '../run/progress.js'
import type { Run } from '../run/run.js'
import { requestSlot } from '../temporal/activities.js'
import { activityErrorOf } from '../temporal/failures.js'
import { DurableTimer } from '../temporal/durable-timer.js'
import { Semaphore } from '../temporal/semaphore.js'
import { maxDurationOf } from './call-options.js'
import type { CallState } from './call-state.js'
import type { WaitingCall, WaitingCalls } from './waiting-calls.js'

const repeatRequestMs = 5 * 60_000

interface LimitedCall {
  readonly tool: ToolConfig
  readonly input: CallIdentity
  report(wait: CallWait | undefined): void
  record(outcome: CallOutcome): CallOutcome
}

/** The states of a call with a slot that the limiter has granted, or is about to grant. */
const holding: readonly CallState['type'][] = [
  ...(['requested', 'granted', 'announcing', 'result', 'completed'] as const),
  ...(['question', 'answered', 'returning'] as const),
]

export class ToolSlots {
  readonly #run: Pick<Run, 'config' | 'tools'>
  readonly #calls: WaitingCalls
  /** Limits the requests of each tool. Key: the name of the tool. */
  readonly #queues = new Map<string, Semaphore>()
  readonly #requests = new Map<WaitingCall, () => Promise<void>>()
  readonly #timer = new DurableTimer()
  /** The scope of the whole run: the cancellation of one call does not cancel the timer. */
  readonly #timerScope = new CancellationScope()

  constructor(run: Pick<Run, 'config' | 'tools'>, calls: WaitingCalls) {
    this.#run = run
    this.#calls = calls
    for (const call of calls) if (isReturning(call)) this.#return(call) // invariant 4
  }

  /**
   * Executes a call while it holds a slot of its tool. A slot that the execution before this one requested is kept.
   *
   * @param concurrency number of slots of the tool
   * @param execute records the outcome before it returns
   * @throws what `execute` throws, and the cancellation of the scope of a waiting call
   */
  async run(limited: LimitedCall, concurrency: number, execute: () => Promise<CallOutcome>): Promise<CallOutcome> {
    const { tool, input } = limited
    const call = this.#calls.add(input)
    const hold = () => this.#hold(limited, call, concurrency, execute)
    // A call that holds a slot must not wait for one that has none.
    if (holding.includes(call.state.type)) return hold()
    this.#calls.apply(call, { type: 'queue' })
    limited.report({ for: 'slot_of_tool', tool: tool.name })
    const queue = this.#queues.get(tool.name) ?? new Semaphore(concurrency) // invariant 2
    this.#queues.set(tool.name, queue)
    return queue.run(hold)
  }

  /** Handles the answer of a limiter. Returns false when this run neither waits for the slot nor has it. */
  answer({ key, answer }: SlotAnswer): boolean {
    const call = this.#calls.get(key)
    // The call had this slot before a reset. It must not keep the slot in the queue.
    if (!call || !holding.includes(call.state.type)) return false
    this.#calls.apply(call, { type: answer === 'granted' ? 'grant' : 'refuse' })
    return true
  }

  /** Gives all slots back. Resolves when the limiters have them. */
  async close(): Promise<void> {
    this.#timer.close()
    const isLimited = ({ tool }: WaitingCall) => this.#run.tools.get(tool)?.concurrency !== undefined
    // Also the slots of calls that this execution has not started yet.
    for (const call of this.#calls) if (isLimited(call)) this.#release(call)
    const isReturned = (): boolean => ![...this.#calls].some(isReturning)
    if (!isReturned()) await CancellationScope.nonCancellable(() => condition(isReturned))
  }

  async #hold(
    limited: LimitedCall,
    call: WaitingCall,
    concurrency: number,
    execute: () => Promise<CallOutcome>,
  ): Promise<CallOutcome> {
    const { tool } = limited
    const { workflowId, taskQueue } = workflowInfo()
    const request = { key: call.idempotencyKey, workflowId, slots: concurrency, maxHoldMs: maxDurationOf(tool) }
    const input = { tool: tool.name, limiter: toolLimitId(taskQueue, tool.name), taskQueue, request }
    this.#requests.set(call, () => requestSlot(input, this.#run.config.timeouts))
    try {
      const problem = await this.#waitForSlot(limited, call)
      if (problem === undefined) return await execute() // invariant 1
      return limited.record({ status: 'denied', message: `${tool.name} has no slot free: ${problem}` })
    } finally {
      this.#requests.delete(call)
      this.#release(call)
    }
  }

  /** Returns why the call gets no slot; undefined when it has one. */
  async #waitForSlot(limited: LimitedCall, call: WaitingCall): Promise<string | undefined> {
    const isAnswered = (): boolean => call.state.type !== 'queued' && call.state.type !== 'requested'
    if (isAnswered()) return undefined
    limited.report({ for: 'slot_of_tool', tool: call.tool })
    // A request of the execution before this one may have been lost with its activity.
    this.#calls.apply(call, { type: 'request' })
    try {
      await this.#requests.get(call)?.()
    } catch (thrown) {
      return activityErrorOf(thrown).message
    }
    if (!isAnswered()) {
      this.#scheduleRepeat()
      await condition(isAnswered)
    }
    limited.report(undefined)
    return call.state.type === 'refused' ? 'too many calls wait for one' : undefined
  }

  #scheduleRepeat(): void {
    if (this.#timer.isScheduled) return
    const schedule = () =>
      // Invariant 3.
      this.#timer.schedule(Date.now() + repeatRequestMs, 'ask for slots again', () => this.#repeatRequests())
    void this.#timerScope.run(() => Promise.resolve(schedule()))
  }

  #repeatRequests(): void {
    const waiting = [...this.#requests].filter(([{ state }]) => state.type === 'requested')
    // The next repetition tries again.
    for (const [, request] of waiting) void this.#timerScope.run(request).catch(() => undefined)
    if (waiting.length > 0) this.#scheduleRepeat()
  }

  #release(call: WaitingCall): void {
    if (isReturning(call)) return
    this.#calls.apply(call, { type: 'release' })
    if (isReturning(call)) this.#return(call)
  }

  #return(call: WaitingCall): void {
    const { taskQueue } = workflowInfo()
    const forget = () => this.#calls.remove(call)
    // It fails when the limiter does not run. Then no slot is held.
    releaseSlot(toolLimitId(taskQueue, call.tool), call.idempotencyKey).then(forget, forget)
  }
}

function isReturning({ state }: WaitingCall): boolean {
  return state.type === 'returning'
}

export function releaseSlot(limiter: string, key: string): Promise<void> {
  const release: SlotRelease = { key }
  return CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(limiter).signal(toolLimitMessages.release, release),
  )
}
