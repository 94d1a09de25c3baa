/*
 * Slots of tools with a concurrency limit, in one run.
 *
 * Owns: a limited call from its request for a slot until the limiter has the slot back.
 * Boundary: a call is known by its idempotency key. `src/workflows/tool-limit` decides which call gets a slot;
 * `call-tool.ts` runs the call.
 *
 * Invariants:
 * 1. A call begins after the limiter has granted its slot, and gives the slot back when it has its outcome, or is
 *    cancelled.
 * 2. A waiting call holds no slot of `callSlots` and no activity.
 * 3. A run requests at most as many slots of a tool at once as the tool has. So a run with many calls leaves room for
 *    others, and the limiter knows few of them.
 * 4. A request without an answer is repeated every 5 minutes: the limiter may have been terminated.
 * 5. The state has every call that has not ended. The next execution sends again every request and release that the
 *    limiter has not confirmed; the limiter ignores repetitions.
 */

import {
  ActivityFailure,
  CancellationScope,
  condition,
  defineSignal,
  getExternalWorkflowHandle,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow'
import { slotAnswerSignal, toolLimitId, toolLimitMessages } from '../../common/names.js'
import type { SlotAnswer, SlotCall, SlotRelease, ToolSlotsState } from '../../common/calls/tool-slots.js'
import type { Timeouts } from '../../common/runs/run-config.js'
import { requestSlot } from '../temporal/activities.js'
import { DurableTimer } from '../temporal/durable-timer.js'
import { Semaphore } from '../temporal/semaphore.js'
import { handleSignal } from '../temporal/handle-signal.js'

const repeatRequestMs = 5 * 60_000

interface LimitedTool {
  readonly name: string
  readonly concurrency: number
}

export interface LimitedCall {
  readonly tool: LimitedTool
  /** The idempotency key of the call. */
  readonly key: string
  /** Milliseconds after the grant. The call ends before that, even when workers are lost. */
  readonly maxHoldMs: number
  readonly execute: () => Promise<void>
  /** Called in place of `execute` when the limiter refuses the call, with its reason. */
  readonly refuse: (reason: string) => void
}

type Call = Omit<{ -readonly [Key in keyof SlotCall]: SlotCall[Key] }, 'state'> & {
  state: SlotCall['state'] | 'refused'
  /** Sends the request again. Undefined before the first request. */
  request?: () => Promise<void>
}

/** The slots of a run; see the header. */
export class ToolSlots {
  readonly #timeouts: Timeouts
  /** Key: the idempotency key of the call. */
  readonly #calls = new Map<string, Call>()
  /** Limits the requests of each tool. Key: the name of the tool. */
  readonly #requests = new Map<string, Semaphore>()
  readonly #timer = new DurableTimer()
  /** The scope of the whole run: the cancellation of one call does not cancel the timer. */
  readonly #timerScope = new CancellationScope()
  #isHandedOver = false

  /** @param state of the same run in the execution before this one */
  constructor(timeouts: Timeouts, state: ToolSlotsState = []) {
    this.#timeouts = timeouts
    for (const call of state) this.#calls.set(call.key, { ...call })
    for (const call of this.#calls.values()) if (call.state === 'returning') this.#return(call)
  }

  /** Is undefined when no call has a slot or has requested one. */
  get state(): ToolSlotsState | undefined {
    const calls = [...this.#calls.values()].flatMap(({ key, tool, state }) =>
      state === 'queued' || state === 'refused' ? [] : [{ key, tool, state }],
    )
    return calls.length === 0 ? undefined : calls
  }

  /** Returns whether the call has requested a slot, or has one. */
  has(key: string): boolean {
    return this.#calls.has(key)
  }

  /**
   * Executes a call while it holds a slot of its tool. A slot that the execution before this one requested is kept.
   *
   * @throws what the call throws, and the cancellation of the scope of a waiting call
   */
  async run(limited: LimitedCall): Promise<void> {
    const { tool, key } = limited
    const known = this.#calls.get(key)
    // A call that holds a slot must not wait for one that has none.
    if (known?.state === 'requested' || known?.state === 'granted') return this.#hold(limited, known)
    const added: Call = { key, tool: tool.name, state: 'queued' }
    this.#calls.set(key, added)
    const requests = this.#requests.get(tool.name) ?? new Semaphore(tool.concurrency)
    this.#requests.set(tool.name, requests)
    try {
      await requests.run(() => this.#hold(limited, added))
    } finally {
      if (added.state === 'queued') this.#forget(added) // cancelled
    }
  }

  /** Handles the answer of a limiter. Returns false when this run neither waits for the slot nor has it. */
  answer({ key, answer }: SlotAnswer): boolean {
    const call = this.#calls.get(key)
    // The call had this slot before a reset. It must not keep the slot in the queue.
    if (!call || call.state === 'queued') return false
    if (call.state === 'requested') call.state = answer
    return true
  }

  /** Gives all slots back. Resolves when the limiters have them. */
  async close(): Promise<void> {
    this.#timer.close()
    if (this.#calls.size === 0) return
    for (const call of this.#calls.values()) this.#release(call)
    await CancellationScope.nonCancellable(() => condition(() => this.#calls.size === 0))
  }

  /**
   * Called before the run continues as new with the state: from now on, a cancelled call keeps its slot. A signal after
   * the command that continues as new makes the server refuse the workflow task.
   */
  handOver(): void {
    this.#isHandedOver = true
  }

  async #hold(limited: LimitedCall, call: Call): Promise<void> {
    try {
      await this.#waitForSlot(limited, call)
      if (call.state === 'refused') {
        this.#forget(call)
        return limited.refuse('too many calls wait for one')
      }
    } catch (thrown) {
      this.#release(call)
      if (isCancellation(thrown) || !(thrown instanceof ActivityFailure)) throw thrown
      return limited.refuse(thrown.cause?.message ?? thrown.message)
    }
    try {
      await limited.execute()
    } finally {
      this.#release(call)
    }
  }

  async #waitForSlot({ tool, key, maxHoldMs }: LimitedCall, call: Call): Promise<void> {
    const isAnswered = (): boolean => call.state === 'granted' || call.state === 'refused'
    if (isAnswered()) return
    const { workflowId, taskQueue } = workflowInfo()
    const limiter = toolLimitId(taskQueue, tool.name)
    const request = { key, workflowId, slots: tool.concurrency, maxHoldMs }
    call.request = () => requestSlot({ tool: tool.name, limiter, taskQueue, request }, this.#timeouts)
    // A request of the execution before this one may have been lost with its activity.
    call.state = 'requested'
    await call.request()
    if (isAnswered()) return
    this.#scheduleRepeat()
    await condition(isAnswered)
  }

  #scheduleRepeat(): void {
    if (this.#timer.isScheduled) return
    const schedule = () =>
      this.#timer.schedule(Date.now() + repeatRequestMs, 'ask for slots again', () => this.#repeatRequests())
    void this.#timerScope.run(() => Promise.resolve(schedule()))
  }

  #repeatRequests(): void {
    const waiting = [...this.#calls.values()].filter(({ state }) => state === 'requested')
    // The next repetition tries again.
    for (const { request } of waiting) void this.#timerScope.run(async () => request?.()).catch(() => undefined)
    if (waiting.length > 0) this.#scheduleRepeat()
  }

  #release(call: Call): void {
    if (this.#isHandedOver) return
    if (this.#calls.get(call.key) !== call || call.state === 'returning') return
    if (call.state === 'queued' || call.state === 'refused') return this.#forget(call)
    call.state = 'returning'
    this.#return(call)
  }

  #return(call: Call): void {
    const { taskQueue } = workflowInfo()
    const forget = () => this.#forget(call)
    // It fails when the limiter does not run. Then no slot is held.
    releaseSlot(toolLimitId(taskQueue, call.tool), call.key).then(forget, forget)
  }

  #forget(call: Call): void {
    if (this.#calls.get(call.key) === call) this.#calls.delete(call.key)
  }
}

/** @throws when the limiter does not run */
function releaseSlot(limiter: string, key: string): Promise<void> {
  const release: SlotRelease = { key }
  return CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(limiter).signal(toolLimitMessages.release, release),
  )
}

const slotAnswer = defineSignal<[SlotAnswer]>(slotAnswerSignal)

/**
 * Handles the answers of limiters. A slot for a call that no run of this workflow has goes back.
 *
 * @param runs the slots of each run of this workflow
 */
export function handleSlotAnswers(runs: () => Iterable<ToolSlots>): void {
  handleSignal(slotAnswer, (input) => {
    const { key, limiter, answer } = input
    const isKnown = [...runs()].some((slots) => slots.answer(input))
    if (!isKnown && answer === 'granted') releaseSlot(limiter, key).catch(() => undefined) // the limiter has ended
  })
}
