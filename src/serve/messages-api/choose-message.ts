import type { Conversation, ProviderMessage, RunTree } from '../../client/index.js'
import { digestJson } from '../../common/calls/call-identity.js'
import { PtcError } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import type { Attachment } from '../../common/conversation/attachments.js'
import type { ApiMessage } from './blocks.js'
import { BadRequest } from './errors.js'
import { toProviderMessages } from './conversion.js'
import { digestMessages, lastPersonal, newMessageOf } from './messages.js'
import { knownCalls, type ReplyBlock, replyAfter } from './transcript.js'

export interface ChosenMessage {
  readonly id: string
  /** The conversation has worked on the message, or works on it now. */
  readonly isKnown?: true
  /** Empty: the text is in the last of `messages`. */
  readonly text: string
  readonly attachments?: readonly Attachment[]
  /** Messages that replace those of the conversation. Undefined: the conversation has the same messages. */
  readonly messages?: readonly ProviderMessage[]
}

/**
 * The id of a new message, and how it changes the messages before it. The id is derived from all messages of the
 * request: a repeated request is the same message (invariant 1).
 *
 * @param tree of the conversation; undefined for a new one
 * @throws BadRequest while calls of another message wait
 */
export async function chooseMessage(
  conversation: Conversation,
  { messages, codeCallerType }: { readonly messages: readonly ApiMessage[]; readonly codeCallerType: string },
  tree?: RunTree,
): Promise<ChosenMessage> {
  const digest = digestMessages(messages)
  const earlier = messages.slice(0, -1)
  const last = newMessageOf(messages)
  const replaced = (id: string): ChosenMessage =>
    last
      ? { id, ...last, messages: toProviderMessages(earlier) }
      : { id, text: '', messages: toProviderMessages(messages) }
  if (!tree) return last && earlier.length === 0 ? { id: digest, ...last } : replaced(digest)
  const id = await untried(conversation, tree, digest)
  if (tree.turns.some(({ message }) => message === id)) return { id, text: '', isKnown: true }
  const open = knownCalls(tree).find(({ call }) => call.deferred !== undefined)
  if (open) throw new BadRequest(`messages: the call ${open.id} waits, and has no tool_result`)
  return last && hasAnswered(tree, earlier, codeCallerType) ? { id, ...last } : replaced(id)
}

/** A message that failed and was taken back may be sent again. It is then a new message. */
async function untried(conversation: Conversation, tree: RunTree, digest: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const id = attempt === 1 ? digest : `${digest}.${attempt}`
    if (!tree.turns.some(({ message }) => message === id)) return id
    const { state, message } = await conversation.status()
    if (state === 'working' && message === id) return id
    if (!(await isTakenBack(conversation, id))) return id
  }
}

async function isTakenBack(conversation: Conversation, id: string): Promise<boolean> {
  try {
    return (await conversation.answer(id)).isTakenBack
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'MESSAGE_NOT_FOUND') return false
    throw thrown
  }
}

/** Whether the client sent exactly these messages last, and got these responses. */
function hasAnswered(tree: RunTree, earlier: readonly ApiMessage[], codeCallerType: string): boolean {
  const last = tree.turns.at(-1)?.message
  const position = lastPersonal(earlier)
  if (last === undefined || position < 0) return false
  if (last.split('.')[0] !== digestMessages(earlier.slice(0, position + 1))) return false
  const { blocks } = replyAfter(tree, last, new Set(), codeCallerType)
  const given = earlier.slice(position + 1).flatMap(({ role, content }) => (role === 'assistant' ? content : []))
  return digestBlocks(given) === digestBlocks(blocks)
}

/** A digest of the blocks of a response. It ignores fields that a client has added. */
function digestBlocks(blocks: readonly (ReplyBlock | ApiMessage['content'][number])[]): string {
  const plain = blocks.map(({ type, id, text, input, tool_use_id, content }) => {
    return { type, id, text, input, tool_use_id, content }
  })
  return digestJson(JSON.parse(JSON.stringify(plain)) as JsonValue)
}
