import type { ConversationAnswer, RunHandle, RunTree } from '../../client/index.js'
import { withDerivedSignal } from '../../common/async/abort.js'
import { knownCalls } from './transcript.js'

/** A message that a conversation works on, and the part of that work that the client has. */
export interface FollowedMessage {
  readonly id: string
  /** Ids of calls whose results the client has sent. */
  readonly after: ReadonlySet<string>
  /** This request has sent the message. Then it may be answered without a turn, for example after an early failure. */
  readonly isSent: boolean
}

/** The conversation waits for results of calls, or has answered the message (invariant 4). */
export interface Pause {
  readonly tree: RunTree
  /** Undefined: the conversation waits for results. */
  readonly answer: ConversationAnswer | undefined
}

interface Following {
  readonly handle: Pick<RunHandle<unknown>, 'waits' | 'tree'>
  readonly message: FollowedMessage
  /** Waits for the answer; called when there may be an answer. */
  readonly answer: (signal: AbortSignal) => Promise<ConversationAnswer>
}

/**
 * Follows the work on a message to the first pause after these calls. The moments of a history stay the same, so a
 * repeated request finds the same pause.
 *
 * @throws PtcError of the conversation; the signal's reason
 */
export function followMessage({ handle, message, answer }: Following, signal: AbortSignal): Promise<Pause> {
  return withDerivedSignal(signal, async (derived) => {
    let answered: Promise<ConversationAnswer> | undefined
    const ask = (): Promise<ConversationAnswer> => {
      answered ??= answer(derived)
      answered.catch(() => undefined) // awaited below, or not at all
      return answered
    }
    const pauses = handle.waits({ full: true, signal: derived })
    let next = pauses.next()
    for (;;) {
      const first = await Promise.race([
        next.then((moment) => ({ moment })),
        ...(answered ? [answered.then((given) => ({ given }))] : []),
      ])
      if ('given' in first) return { tree: await handle.tree({ full: true }), answer: first.given }
      const { value: tree, done } = first.moment
      if (done === true) {
        const given = await ask()
        return { tree: await handle.tree({ full: true }), answer: given }
      }
      const state = stateOf(tree, message)
      if (state === 'waiting') return { tree, answer: undefined }
      if (state === 'quiet') void ask()
      next = pauses.next()
      next.catch(() => undefined)
    }
  })
}

/** `earlier`: the conversation has not taken the results. `quiet`: no work is in progress, and no call waits. */
function stateOf(tree: RunTree, { id, after, isSent }: FollowedMessage): 'earlier' | 'waiting' | 'quiet' {
  const calls = knownCalls(tree)
  const taken = calls.filter((known) => after.has(known.id) && known.call.deferred === undefined)
  const hasBegun = tree.turns.some(({ message }) => message === id)
  if (!hasBegun) return isSent ? 'quiet' : 'earlier'
  if (taken.length < after.size) return 'earlier'
  return calls.some(({ message, call }) => message === id && call.deferred !== undefined) ? 'waiting' : 'quiet'
}
