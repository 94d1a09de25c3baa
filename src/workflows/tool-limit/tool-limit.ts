/*
 * The slots of one tool with a concurrency limit, or with locks, for all runs of a task queue.
 *
 * Owns: which calls have a slot, which wait, and when a slot is free again. `workflow.ts` has the life of the workflow.
 * Boundary: signals from and to runs. Nothing here depends on a run, an activity or a tool. A call is known by its
 * idempotency key.
 *
 * Invariants:
 * 1. At most `slots` calls hold a slot, unless the limit was lowered meanwhile. At most one of them has the same lock.
 *    Waiting calls get slots in the order of their requests. A call whose lock is held lets later calls pass, but none
 *    with the same lock.
 * 2. Every signal may arrive twice, late, or never. A second request of a holder repeats the grant; the release of an
 *    unknown call does nothing; a run gives back a grant for a call that it does not have.
 * 3. A slot is free again when its run releases it, when its run has ended (the server can't deliver a signal), and at
 *    the latest when `maxHoldMs` is over. While calls wait, the limiter checks the holders by repeating their grants:
 *    after 5 seconds, then each time after twice the time, up to 10 minutes.
 * 4. At most `maxWaitingForSlot` calls wait; one more is refused.
 * 5. A slot that its run may keep is recalled as soon as a call waits for a slot, and at the latest after `keepMs`.
 *    While others wait, a slot is granted for a turn: `turnMs` for calls that wait in the run.
 * 6. Between two signals only one timer is pending. The state is complete, so the workflow can continue as new at any
 *    time. The next execution repeats grants that were not confirmed.
 */

import { getExternalWorkflowHandle, setCurrentDetails, workflowInfo } from '@temporalio/workflow'
import { slotAnswerSignal } from '../../common/names.js'
import { defined } from '../../common/defined.js'
import { pluralize } from '../../common/text/text.js'
import {
  maxWaitingForSlot,
  type SlotAnswer,
  type SlotHolder,
  type SlotRelease,
  type SlotRequest,
  type ToolLimitState,
} from '../../common/calls/tool-slots.js'
import { DurableTimer } from '../temporal/durable-timer.js'

const firstCheckMs = 5_000
const maxCheckMs = 10 * 60_000

/**
 * Milliseconds after the grant, during which calls of a run may begin with a slot that it keeps. A slot that is kept
 * without need costs others only a recall, but the limiter does not end while a run has one.
 */
const keepMs = 60_000

/** The same while others wait: handing over a slot takes about 60 ms, so a turn is some times as long. */
const turnMs = 500

type Holder = { -readonly [Key in keyof SlotHolder]: SlotHolder[Key] }

export class ToolLimit {
  #slots: number
  readonly #holders: Map<string, Holder>
  readonly #waiting: Map<string, Omit<SlotRequest, 'slots'>>
  readonly #timer = new DurableTimer()
  #hasGranted = false

  constructor({ slots, holders, waiting }: ToolLimitState = { slots: 0, holders: [], waiting: [] }) {
    this.#slots = slots
    this.#holders = new Map(holders.map((holder) => [holder.key, { ...holder }]))
    this.#waiting = new Map(waiting.map((request) => [request.key, request]))
    for (const holder of this.#holders.values()) if (!holder.isDelivered) this.#sendGrant(holder) // invariant 6
    this.#onChange()
  }

  get state(): ToolLimitState {
    return { slots: this.#slots, holders: [...this.#holders.values()], waiting: [...this.#waiting.values()] }
  }

  /** True when no call has a slot, and none waits. */
  get isIdle(): boolean {
    return this.#holders.size === 0 && this.#waiting.size === 0
  }

  get hasGranted(): boolean {
    return this.#hasGranted
  }

  request({ slots, ...request }: SlotRequest): void {
    const { key, workflowId } = request
    this.#slots = slots
    const holder = this.#holders.get(key)
    if (holder) {
      this.#sendGrant(holder) // a run repeats its request after a reset (invariant 2)
    } else if (this.#waiting.size >= maxWaitingForSlot && !this.#waiting.has(key)) {
      // Invariant 4.
      this.#send(workflowId, { key, answer: 'refused' }).catch(() => undefined) // the run has ended
    } else {
      this.#waiting.set(key, request)
    }
    this.#onChange()
  }

  release({ key }: SlotRelease): void {
    this.#waiting.delete(key)
    this.#holders.delete(key)
    this.#onChange()
  }

  /** Grants free slots, checks holders, and sets the timer. */
  #onChange(): void {
    const now = Date.now()
    for (const { key, until } of this.#holders.values()) if (until <= now) this.#holders.delete(key)
    const locks = new Set([...this.#holders.values()].map(({ lock }) => lock))
    const granted = new Set<Holder>()
    for (const [key, { workflowId, lock, maxHoldMs, mayKeep }] of this.#waiting) {
      if (this.#holders.size >= this.#slots) break // invariant 1
      if (lock !== undefined && locks.has(lock)) continue
      locks.add(lock)
      this.#waiting.delete(key)
      const recallAt = mayKeep && lock === undefined ? now + keepMs : undefined
      // The last call may begin when the slot is recalled.
      const until = (recallAt ?? now) + maxHoldMs
      const check = { checkAt: now + firstCheckMs, checkIntervalMs: firstCheckMs }
      const holder = { key, workflowId, ...defined({ lock, recallAt }), until, ...check, isDelivered: false }
      this.#holders.set(key, holder)
      granted.add(holder)
    }
    const isWanted = this.#waiting.size > 0 && this.#holders.size >= this.#slots
    for (const holder of this.#holders.values()) {
      const { recallAt, isRecalled } = holder
      const isDue = recallAt !== undefined && !isRecalled && (isWanted || recallAt <= now)
      // Invariant 5. A recall is a check, too.
      if (isDue) Object.assign(holder, { isRecalled: true, checkAt: now + firstCheckMs, checkIntervalMs: firstCheckMs })
      if (isDue || granted.has(holder)) this.#sendGrant(holder)
    }
    if (this.#waiting.size > 0) for (const holder of this.#holders.values()) this.#check(holder, now)
    this.#schedule()
    const counts = `${this.#holders.size} of ${pluralize(this.#slots, 'slot')} in use`
    setCurrentDetails(`${counts}, ${pluralize(this.#waiting.size, 'call')} waiting`)
  }

  /** Repeats the grant of a holder. A run that no longer has the call answers with a release. */
  #check(holder: Holder, now: number): void {
    if (holder.checkAt > now) return
    holder.checkIntervalMs = Math.min(2 * holder.checkIntervalMs, maxCheckMs) // invariant 3
    holder.checkAt = now + holder.checkIntervalMs
    this.#sendGrant(holder)
  }

  #schedule(): void {
    const isAwaited = this.#waiting.size > 0
    const times = [...this.#holders.values()].map(({ until, checkAt, recallAt, isRecalled }) =>
      Math.min(until, isAwaited ? checkAt : Infinity, isRecalled ? Infinity : (recallAt ?? Infinity)),
    )
    this.#timer.schedule(Math.min(...times), 'check the calls that hold a slot', () => this.#onChange())
  }

  #sendGrant(holder: Holder): void {
    const { key, workflowId, recallAt, isRecalled } = holder
    this.#hasGranted = true
    const kept = recallAt === undefined ? {} : { keepMs: isRecalled ? turnMs : keepMs, ...defined({ isRecalled }) }
    this.#send(workflowId, { key, answer: 'granted', ...kept }).then(
      () => (holder.isDelivered = true),
      () => {
        // The run has ended.
        if (this.#holders.get(key) !== holder) return
        this.#holders.delete(key)
        this.#onChange()
      },
    )
  }

  #send(workflowId: string, answer: Omit<SlotAnswer, 'limiter'>): Promise<void> {
    const { workflowId: limiter } = workflowInfo()
    return getExternalWorkflowHandle(workflowId).signal<[SlotAnswer]>(slotAnswerSignal, { ...answer, limiter })
  }
}
