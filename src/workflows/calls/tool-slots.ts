/*
 * Slots of tools with a concurrency limit, or with locks, in one run.
 *
 * Owns: a limited call from its request for a slot until the limiter has the slot back.
 * Boundary: the state of a call is in `WaitingCalls`. `src/workflows/tool-limit` decides which call gets a slot.
 *
 * Invariants:
 * 1. A call begins after the limiter has granted its slot, or with a slot that the run has kept after an earlier call of
 *    the tool. When the call has its outcome, or is cancelled, the run gives the slot back, or keeps it.
 * 2. A run requests at most as many slots of a tool at once as the tool has. So a run with many calls leaves room for
 *    others, and the limiter knows few of them. Of a tool with locks only, it requests at most `maxLockRequests`.
 * 3. A request without an answer is repeated every 5 minutes: the limiter may have been terminated.
 * 4. The next execution of a run sends again every request and release that the limiter has not confirmed; the limiter
 *    ignores repetitions.
 * 5. No call begins with a kept slot later than `keepMs` after the grant. A slot that the limiter has recalled is kept
 *    only while calls of its tool wait in this run. A run keeps no slot longer than it lives: `close` returns it.
 */

import { CancellationScope, condition, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow'
import type { CallIdentity, ToolCallInput } from '../../common/calls/calls.js'
import { type CallOutcome, toCallStatus } from '../../common/calls/outcomes.js'
import { maxSlots, type SlotAnswer, type KeepableSlot, type SlotRelease } from '../../common/calls/tool-slots.js'
import { limiterOf, toolLimitMessages } from '../../common/names.js'
import { isLimited, type ToolConfig } from '../../common/calls/tool-config.js'
import type { RunKind } from '../../common/run/runs.js'
import type { CallWait } from '../run/progress.js'
import type { Run } from '../run/run.js'
import { defined } from '../../common/defined.js'
import { requestSlot } from '../temporal/activities.js'
import { activityErrorOf } from '../temporal/failures.js'
import { DurableTimer } from '../temporal/durable-timer.js'
import { Semaphore } from '../temporal/semaphore.js'
import { maxDurationOf } from './call-options.js'
import { type CallState, isEnded } from './call-state.js'
import type { WaitingCall, WaitingCalls } from './waiting-calls.js'

const repeatRequestMs = 5 * 60_000

/** Requests for locks of one tool that a run makes at once. */
const maxLockRequests = 100

interface LimitedCall {
  readonly tool: ToolConfig
  readonly input: CallIdentity & Pick<ToolCallInput, 'arguments'>
  report(wait: CallWait | undefined): void
  record(outcome: CallOutcome): CallOutcome
}

/** @param hasWaited false when the call began at once, with a slot that its run kept */
type Execute = (hasWaited: boolean) => Promise<CallOutcome>

/** The states of a call with a slot that the limiter has granted, or is about to grant. */
const holding: readonly CallState['type'][] = [
  ...(['requested', 'granted', 'announcing', 'result', 'completed'] as const),
  ...(['question', 'answered', 'returning'] as const),
]

export class ToolSlots {
  readonly #run: Pick<Run, 'kind' | 'config' | 'tools'>
  readonly #calls: WaitingCalls
  /** Limits the requests of each tool. Key: the name of the tool. */
  readonly #queues = new Map<string, Semaphore>()
  readonly #requests = new Map<WaitingCall, () => Promise<void>>()
  readonly #timer = new DurableTimer()
  /** The scope of the whole run: the cancellation of one call does not cancel the timer. */
  readonly #timerScope = new CancellationScope()
  #isClosed = false

  constructor(run: Pick<Run, 'kind' | 'config' | 'tools'>, calls: WaitingCalls) {
    this.#run = run
    this.#calls = calls
    for (const call of calls) if (isReturning(call)) this.#return(call) // invariant 4
  }

  /**
   * Executes a call while it holds a slot of its tool. A slot that the execution before this one requested is kept.
   *
   * @param execute records the outcome before it returns
   * @throws what `execute` throws, and the cancellation of the scope of a waiting call
   */
  async run(limited: LimitedCall, execute: Execute): Promise<CallOutcome> {
    const { tool, input } = limited
    const call = this.#calls.add(input)
    // A call that holds a slot must not wait for one that has none.
    if (holding.includes(call.state.type)) return this.#hold(limited, call, () => execute(true))
    const queue = this.#queues.get(tool.name) ?? new Semaphore(tool.concurrency ?? maxLockRequests) // invariant 2
    this.#queues.set(tool.name, queue)
    this.#calls.apply(call, { type: 'queue' })
    const begins = queue.isFree && this.#reuse(call)
    if (!begins) limited.report(waitFor(tool))
    const ended = queue.run(() => this.#hold(limited, call, () => execute(!begins)))
    const leave = () => this.#leave(call)
    ended.then(leave, leave)
    return ended
  }

  /** Handles the answer of a limiter. Returns false when this run neither waits for the slot nor has it. */
  answer({ key, answer, keepMs, isRecalled }: SlotAnswer): boolean {
    const call = this.#withSlot(key)
    // The call had this slot before a reset. It must not keep the slot in the queue.
    if (!call || !(holding.includes(call.state.type) || isEnded(call.state))) return false
    this.#calls.apply(call, { type: answer === 'granted' ? 'grant' : 'refuse' })
    if (keepMs !== undefined) {
      // Signals may arrive in another order: a recall is final.
      const { since = Date.now(), isRecalled: before, keepMs: latest = keepMs } = call.slot ?? {}
      call.slot = { key, since, keepMs: Math.min(latest, keepMs), ...defined({ isRecalled: before ?? isRecalled }) }
    }
    this.#returnUnused(call.tool)
    return true
  }

  /** Gives all slots back. Resolves when the limiters have them. */
  async close(): Promise<void> {
    this.#timer.close()
    this.#isClosed = true // invariant 5
    // Also the slots of calls that this execution has not started yet.
    for (const call of this.#calls) {
      const tool = this.#run.tools.get(call.tool)
      if (tool && isLimited(tool)) this.#release(call)
    }
    const isReturned = (): boolean => ![...this.#calls].some(isReturning)
    if (!isReturned()) await CancellationScope.nonCancellable(() => condition(isReturned))
  }

  async #hold(limited: LimitedCall, call: WaitingCall, execute: () => Promise<CallOutcome>): Promise<CallOutcome> {
    try {
      if (this.#reuse(call)) limited.report(undefined)
      const refused = await this.#waitForSlot(limited, call)
      return refused ? limited.record(refused) : await execute() // invariant 1
    } finally {
      this.#requests.delete(call)
      if (call.slot && this.#mayKeep(call.slot, call.tool)) this.#calls.apply(call, { type: 'keep' })
      else this.#release(call)
    }
  }

  /** Takes a slot that the run keeps. Returns false when there is none. */
  #reuse(call: WaitingCall): boolean {
    if (call.state.type !== 'queued') return false
    const kept = this.#kept(call.tool).find(({ slot }) => slot && this.#mayKeep(slot, call.tool))
    if (!kept?.slot) return false
    this.#calls.remove(kept)
    call.slot = kept.slot
    this.#calls.apply(call, { type: 'reuse' })
    return true
  }

  #kept(tool: string): readonly WaitingCall[] {
    return [...this.#calls].filter((call) => call.state.type === 'kept' && call.tool === tool)
  }

  /** Returns whether the run may use a slot for a call that begins now, or later if nobody else waits. */
  #mayKeep({ since, keepMs, isRecalled }: KeepableSlot, tool: string): boolean {
    if (this.#isClosed || Date.now() >= since + keepMs) return false // invariant 5
    return !isRecalled || [...this.#calls].some(({ state, tool: other }) => state.type === 'queued' && other === tool)
  }

  #returnUnused(tool: string): void {
    for (const call of this.#kept(tool)) if (!call.slot || !this.#mayKeep(call.slot, tool)) this.#release(call)
  }

  /** Called when a call has ended. A call that was cancelled in the queue may have been the last one there. */
  #leave(call: WaitingCall): void {
    if (call.state.type === 'queued') this.#calls.apply(call, { type: 'release' })
    this.#returnUnused(call.tool)
  }

  /** Returns the call whose slot has this key: a kept slot has the key of an earlier call. */
  #withSlot(key: string): WaitingCall | undefined {
    const call = this.#calls.get(key)
    return call && slotKeyOf(call) === key ? call : [...this.#calls].find(({ slot }) => slot?.key === key)
  }

  #requestOf({ tool, input }: LimitedCall): () => Promise<void> {
    const { workflowId, taskQueue } = workflowInfo()
    const { idempotencyKey: key, caller } = input
    const slots = tool.concurrency ?? maxSlots
    // Calls of `callTool` and of workflow `call` are in no runtime, whose end would return the slot.
    const mayKeep = tool.lock === undefined && (caller === 'code_execution' || !unclosed.includes(this.#run.kind))
    const request = { key, workflowId, slots, maxHoldMs: maxDurationOf(tool), ...(mayKeep && { mayKeep }) }
    const locked = tool.lock === undefined ? undefined : input
    const slot = { tool: tool.name, limiter: limiterOf(taskQueue, tool), taskQueue, request, ...defined({ locked }) }
    return () => requestSlot(slot, this.#run.config.timeouts)
  }

  /** Returns the outcome of a call that gets no slot; undefined when it has one. */
  async #waitForSlot(limited: LimitedCall, call: WaitingCall): Promise<CallOutcome | undefined> {
    const { tool } = limited
    const isAnswered = (): boolean => call.state.type !== 'queued' && call.state.type !== 'requested'
    if (isAnswered()) return undefined
    limited.report(waitFor(tool))
    // A request of the execution before this one may have been lost with its activity.
    this.#calls.apply(call, { type: 'request' })
    const request = this.#requestOf(limited)
    this.#requests.set(call, request)
    try {
      await request()
    } catch (thrown) {
      return this.#outcomeOf(thrown, tool)
    }
    if (!isAnswered()) {
      this.#scheduleRepeat()
      await condition(isAnswered)
    }
    limited.report(undefined)
    return call.state.type === 'refused' ? noSlot(tool, 'too many calls wait for one') : undefined
  }

  /** The activity has refused the arguments of a call with a lock, or it has failed. */
  #outcomeOf(thrown: unknown, tool: ToolConfig): CallOutcome {
    const { code, message } = activityErrorOf(thrown)
    return refusals.includes(code) ? { status: toCallStatus(code), message } : noSlot(tool, message)
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
    const limiter = limiterOf(taskQueue, this.#run.tools.get(call.tool) ?? { name: call.tool })
    // It fails when the limiter does not run. Then no slot is held.
    releaseSlot(limiter, slotKeyOf(call)).then(forget, forget)
  }
}

function waitFor({ name, lock }: ToolConfig): CallWait {
  return { for: lock === undefined ? 'slot_of_tool' : 'lock_of_tool', tool: name }
}

const refusals: readonly string[] = ['TOOL_INPUT_INVALID', 'TOOL_NOT_ALLOWED']

function noSlot({ name, lock }: ToolConfig, problem: string): CallOutcome {
  const missing = lock === undefined ? 'has no slot free' : 'gets no lock'
  return { status: 'denied', message: `${name} ${missing}: ${problem}` }
}

/** Kinds of runs whose direct calls are in no runtime. */
const unclosed: readonly RunKind[] = ['call', 'embedded']

function slotKeyOf({ slot, idempotencyKey }: WaitingCall): string {
  return slot?.key ?? idempotencyKey
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
