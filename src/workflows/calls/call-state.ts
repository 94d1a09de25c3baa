/*
 * The state of a call that waits: for its approval, for a slot of its tool, or for its result.
 *
 * | state        | meaning                                                        |
 * |--------------|----------------------------------------------------------------|
 * | `ready`      | waits for nothing                                              |
 * | `asking`     | activity `tool.approval` is in progress                        |
 * | `approval`   | waits for its approval                                         |
 * | `decided`    | the decision is there, and the call has not taken it           |
 * | `queued`     | waits for a slot of its tool behind other calls of its run     |
 * | `requested`  | the limiter has the request for a slot                         |
 * | `granted`    | has a slot of its tool                                         |
 * | `refused`    | gets no slot                                                   |
 * | `announcing` | the activity of a deferred call is in progress                 |
 * | `result`     | waits for its result                                           |
 * | `completed`  | the result is there, and the call has not taken it             |
 * | `question`   | waits for the answer to a question of its tool                  |
 * | `answered`   | the answer is there, or the call is executed with its answers  |
 * | `kept`       | the call has ended, and its run keeps the slot for other calls |
 * | `returning`  | the call has ended, and its limiter has not confirmed that     |
 *
 * `callTransitions` is the table of transitions. An event that it does not list for a state changes nothing: a
 * completion arrives twice, an activity ends after its call was completed. A call that has ended is forgotten, unless
 * it is `kept` or `returning`.
 */

import type { CallOutcome } from '../../common/calls/outcomes.js'

/** Times are milliseconds since the epoch. */
export interface Wait {
  readonly since: number
  readonly expiresAt: number
}

type WaitState = { readonly type: 'approval' | 'result' | 'question' } & Wait
type OutcomeState = { readonly type: 'decided' | 'completed' | 'answered'; readonly outcome: CallOutcome }
type PlainState = {
  readonly type:
    | 'ready'
    | 'asking'
    | 'queued'
    | 'requested'
    | 'granted'
    | 'refused'
    | 'announcing'
    | 'kept'
    | 'returning'
}
export type CallState = PlainState | WaitState | OutcomeState

export type CallEvent =
  | { readonly type: 'ask' | 'proceed' | 'queue' | 'request' | 'grant' | 'refuse' | 'announce' }
  | { readonly type: 'reuse' | 'keep' | 'release' }
  | ({ readonly type: 'wait' | 'inquire' } & Wait)
  | { readonly type: 'complete'; readonly outcome: CallOutcome }

type Table = {
  readonly [Type in CallState['type']]: { readonly [Event in CallEvent['type']]?: CallState['type'] }
}

export const callTransitions = {
  ready: { ask: 'asking', queue: 'queued', announce: 'announcing', inquire: 'question' },
  asking: { wait: 'approval', complete: 'decided', proceed: 'ready' },
  approval: { complete: 'decided' },
  decided: { proceed: 'ready' },
  queued: { request: 'requested', reuse: 'granted', release: 'ready' },
  requested: { grant: 'granted', refuse: 'refused', release: 'returning' },
  granted: { announce: 'announcing', inquire: 'question', keep: 'kept', release: 'returning' },
  refused: {},
  announcing: { wait: 'result', complete: 'completed', keep: 'kept', release: 'returning' },
  result: { complete: 'completed', keep: 'kept', release: 'returning' },
  completed: { keep: 'kept', release: 'returning' },
  question: { complete: 'answered', keep: 'kept', release: 'returning' },
  answered: { inquire: 'question', keep: 'kept', release: 'returning' },
  kept: { release: 'returning' },
  returning: {},
} as const satisfies Table

/** Returns whether a call has ended, and is known only for its slot. */
export function isEnded({ type }: CallState): boolean {
  return type === 'kept' || type === 'returning'
}

/** Returns the state after an event, which is the same state when the event changes nothing. */
export function transition(state: CallState, event: CallEvent): CallState {
  const table: Table = callTransitions
  const type = table[state.type][event.type]
  if (type === undefined) return state
  // `wait` and `inquire` lead only to states with times, and `complete` only to states with an outcome.
  const { type: _, ...data } = event
  return { type, ...data } as CallState
}
