/*
 * The calls of a run that wait, or may have to: for an approval, a slot of their tool, or a later result.
 *
 * Owns: the state of each of these calls (`call-state.ts`), from the moment at which it first waits until it has ended.
 * Boundary: a call is known by its idempotency key. Nothing here depends on cells, or on the code that waits.
 *
 * Invariants:
 * 1. The state of a call changes only by the table of `call-state.ts`.
 * 2. The serialised state has every waiting call, and every outcome that its call has not taken.
 */

import { condition } from '@temporalio/workflow'
import type { CallIdentity } from '../../common/calls/calls.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { KeepableSlot } from '../../common/calls/tool-slots.js'
import type { CallAnswers, ToolQuestion } from '../../common/calls/questions.js'
import type { JsonObject } from '../../common/json/json.js'
import { type CallEvent, type CallState, transition, type Wait } from './call-state.js'

export interface WaitingCallState extends CallIdentity {
  readonly state: CallState
  /** Set when the call may start: it is approved, perhaps with other arguments, or needs no approval. */
  readonly approved?: { readonly arguments?: JsonObject }
  /** The key under which the tool remembers an approval of the call. Absent: only its arguments are remembered. */
  readonly rememberAs?: string
  /** The questions that its tool asks. Absent: none. */
  readonly asked?: AskedQuestions
  /** The slot of the call, if its run may keep it. Absent: the slot is for this call alone, or there is none. */
  readonly slot?: KeepableSlot
}

/** The questions of a call. Set exactly while its state is `question` or `answered`. */
export interface AskedQuestions extends CallAnswers {
  /** The questions without an answer. The first one waits. */
  readonly open: readonly ToolQuestion[]
  /** Questions that activity `tool.question` has announced. */
  readonly announced: number
}

export type WaitingCall = { -readonly [Key in keyof WaitingCallState]: WaitingCallState[Key] }

type OpenWait = WaitingCall & { readonly state: Wait & { readonly type: 'approval' | 'result' | 'question' } }

export class WaitingCalls {
  readonly #calls: Map<string, WaitingCall>
  #onChange: () => void = () => undefined

  constructor(state: readonly WaitingCallState[] = []) {
    this.#calls = new Map(state.map((call) => [call.idempotencyKey, { ...call }]))
  }

  /**
   * Read when no activity of a call is in progress. A queued call has asked no limiter, so it begins again. The next
   * execution returns the slots that this one keeps.
   */
  get state(): readonly WaitingCallState[] {
    // Invariant 2.
    return [...this.#calls.values()].flatMap((call) => {
      if (call.state.type === 'kept') return [{ ...call, state: { type: 'returning' } as const }]
      if (call.state.type !== 'queued' && call.state.type !== 'ready') return [{ ...call }]
      return call.approved ? [{ ...call, state: { type: 'ready' } as const }] : []
    })
  }

  /** @param listener is called when a call begins to wait for something from outside, or no longer waits */
  onChange(listener: () => void): void {
    this.#onChange = listener
  }

  [Symbol.iterator](): Iterator<WaitingCall> {
    return this.#calls.values()
  }

  get(idempotencyKey: string): WaitingCall | undefined {
    return this.#calls.get(idempotencyKey)
  }

  has(call: WaitingCall): boolean {
    return this.#calls.get(call.idempotencyKey) === call
  }

  /** Number of calls with an approval or a result that is yet to come. */
  get size(): number {
    return [...this.#calls.values()].filter(({ state }) => open.includes(state.type)).length
  }

  /** The calls that wait for an approval or a result, until they expire. */
  get expiring(): readonly OpenWait[] {
    return [...this.#calls.values()].filter((call): call is OpenWait => 'expiresAt' in call.state)
  }

  add({ tool, caller, position, idempotencyKey }: CallIdentity): WaitingCall {
    const known = this.#calls.get(idempotencyKey)
    if (known) return known
    const call: WaitingCall = { tool, caller, position, idempotencyKey, state: { type: 'ready' } }
    this.#calls.set(idempotencyKey, call)
    return call
  }

  apply(call: WaitingCall, event: CallEvent): void {
    call.state = transition(call.state, event) // invariant 1
    if (event.type === 'wait' || event.type === 'inquire' || event.type === 'complete') this.#onChange()
  }

  /**
   * Waits for the decision on a call, or for its result.
   *
   * @throws CancelledFailure when the scope of the call is cancelled
   */
  async waitForOutcome(call: WaitingCall): Promise<CallOutcome> {
    if (!('outcome' in call.state)) await condition(() => 'outcome' in call.state)
    return outcomeOf(call) ?? { status: 'cancelled', message: 'the call was dropped' }
  }

  remove(call: WaitingCall): void {
    if (!this.has(call)) return
    this.#calls.delete(call.idempotencyKey)
    if ('expiresAt' in call.state) this.#onChange()
  }
}

/** The number of the question of a call that waits for its answer, from 1. */
export function questionNumber({ asked }: Pick<WaitingCallState, 'asked'>): number {
  return (asked?.answered.length ?? 0) + 1
}

const open: readonly CallState['type'][] = ['asking', 'approval', 'announcing', 'result', 'question']

export function outcomeOf({ state }: WaitingCall): CallOutcome | undefined {
  return 'outcome' in state ? state.outcome : undefined
}
