import type { Conversation, ConversationOptions } from '../../../src/client/index.js'
import { uniqueName } from '../temporal/shared-server.js'
import { Deferred, tool } from '../tools.js'
import { TestConversation } from './test-conversation.js'
import type { TestEnvironmentOptions } from './test-environment.js'
import { TestSession } from './test-session.js'

export interface Bound {
  readonly talk: TestConversation
  readonly conversation: Conversation
  readonly books: TestSession
}

/** A conversation whose code runs in a named session. */
export async function startBound(
  environment: TestEnvironmentOptions,
  options: ConversationOptions = {},
  session = uniqueName('books'),
): Promise<Bound> {
  const talk = await TestConversation.start({ backend: 'wasm', ...environment }, { session, ...options })
  return { talk, conversation: talk.conversation, books: TestSession.create(talk.env, session) }
}

/** A tool that returns when the test releases it. */
export function heldTool(options: Parameters<typeof tool>[2] = {}) {
  const called = new Deferred()
  const released = new Deferred<string>()
  const hold = tool(
    'hold',
    () => {
      called.resolve()
      return released.promise
    },
    options,
  )
  return { hold, called: called.promise, release: () => released.resolve('released') }
}

/** The text for the model after the first code of a new session. */
export const isNewNote = ({ name }: TestSession) => `(session ${name} is new: it has no variables of earlier code.)`
