import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { whenAccepted } from '../conversations.js'
import { toErrorReply } from '../errors.js'
import { EventStream } from '../event-stream.js'
import { type Exchange, maxMessageBytes, readBody, type Reply, type Route, shortArray } from '../router.js'
import { type ApprovalResponse, approvalResponses, decideApprovals, waitingApprovals } from './approvals.js'
import { messageEvents } from './message-events.js'
import { messageOfParts } from './message-parts.js'
import { messageIdOf, UiMessageStream } from './ui-message-stream.js'

/*
 * `src/serve/ai-sdk` owns the stream protocol of the AI SDK's `useChat`, with its DefaultChatTransport.
 *
 * Boundary: the bodies of that transport, and the parts of a UI message stream. A conversation keeps the messages: of
 * the messages in a body, only the last one is read.
 *
 * The id of the user's message is the id of the conversation's message, so a repeated request is not worked on again
 * and gets the same parts. Each response has `finish` and `[DONE]`, unless its client leaves or the server ends: then
 * the front end resumes, and gets the parts from the beginning.
 */

/** The front end sends all messages of its chat. */
const maxMessages = 100_000

const chatBody = z.object({
  id: z.string(),
  messages: shortArray(
    z.object({
      id: z.string().min(1).max(200),
      role: z.string(),
      // Those of the last message are read, and checked then.
      parts: z.array(z.unknown()),
    }),
    maxMessages,
  ).refine(({ length }) => length > 0, 'a message is missing'),
  trigger: z.string().optional(),
})

/** `POST /ai-sdk`: sends the last message of the chat to the conversation with the id of the chat. */
async function sendChat(exchange: Exchange): Promise<undefined> {
  const { ptc, signal } = exchange
  const { id: name, messages, trigger } = await readBody(exchange, chatBody, maxMessageBytes)
  const last = messages.at(-1)
  if (last?.role === 'assistant') return respondToApprovals(exchange, name, last)
  if (last?.role !== 'user' || (trigger !== undefined && trigger !== 'submit-message')) {
    throw new PtcError('RUN_INPUT_INVALID', 'only a new message of the user can be sent', {
      hint: 'A conversation answers each message once: send another one in place of regenerating an answer.',
    })
  }
  const { text, attachments } = messageOfParts(last.parts)
  await whenAccepted(signal, ptc.conversation(name).send(text, { id: last.id, attachments }))
  await sendParts(exchange, name, last.id)
  return undefined
}

/**
 * The last message is an answer that waits for approvals, and it has the decisions: the answer continues after them.
 */
async function respondToApprovals(
  exchange: Exchange,
  name: string,
  { id, parts }: z.infer<typeof chatBody>['messages'][number],
): Promise<undefined> {
  const { ptc, signal } = exchange
  const responses = approvalResponses(parts)
  const latest = responses.at(-1)
  const asked = messageIdOf(id)
  if (latest === undefined || asked === undefined) {
    throw new PtcError('RUN_INPUT_INVALID', 'the last message is an answer without a decision on a call', {
      hint: 'Send a new message of the user, or decide on the calls that wait.',
    })
  }
  const { workflowId } = ptc.conversation(name)
  await whenAccepted(signal, decideApprovals(ptc, workflowId, responses))
  await sendParts(exchange, name, asked, { after: latest.offset, responses })
  return undefined
}

/** `GET /ai-sdk/:name/stream`: the message that is being worked on, from its beginning. 204 when there is none. */
async function resumeChat(exchange: Exchange): Promise<Reply | undefined> {
  const { ptc, params } = exchange
  const { name = '' } = params
  const id = await currentMessage(exchange, name)
  if (id === null) return {}
  await sendParts(exchange, ptc.conversation(name).name, id)
  return undefined
}

async function currentMessage({ ptc }: Exchange, name: string): Promise<string | null> {
  try {
    return (await ptc.conversation(name).status()).message
  } catch (thrown) {
    const code = PtcError.isInstance(thrown) ? thrown.code : undefined
    if (code === 'CONVERSATION_NOT_FOUND' || code === 'CONVERSATION_CLOSED') return null
    throw thrown
  }
}

/** The parts that the front end already has. */
interface Continuation {
  /** Offset of the last event whose parts the front end has. */
  readonly after: string
  readonly responses: readonly ApprovalResponse[]
}

async function sendParts(
  { ptc, response, signal }: Exchange,
  name: string,
  id: string,
  continuation?: Continuation,
): Promise<void> {
  const conversation = ptc.conversation(name)
  using stream = new EventStream(response, signal, { 'x-vercel-ai-ui-message-stream': 'v1' })
  const parts = new UiMessageStream()
  for (const chunk of parts.start(id)) await stream.send(chunk)
  const events = ptc.handle(conversation.workflowId).stream({ signal })
  // `messageEvents` awaits it at once: it may reject as soon as the client has left.
  const answer = conversation.answer(id, { signal })
  try {
    let isNew = continuation === undefined
    const isWaiting = (): boolean => isNew && parts.isWaiting
    for await (const each of messageEvents({ id, events, answer, isWaiting })) {
      if (each.type === 'quiet') {
        const waiting = await waitingApprovals(ptc, conversation.workflowId)
        const requests = parts.requestApprovals(new Set(waiting.keys()))
        for (const chunk of requests) await stream.send(chunk)
        if (requests.length > 0) break
        continue
      }
      // Without the event at which the last response stopped, the front end gets only the answer.
      const decided = each.type === 'answer' && !isNew ? parts.respond(continuation?.responses ?? []) : []
      const chunks = [...decided, ...(each.type === 'answer' ? parts.finish(each.answer) : parts.add(each.event))]
      if (isNew || each.type === 'answer') for (const chunk of chunks) await stream.send(chunk)
      if (each.type === 'event' && each.event.offset === continuation?.after) {
        isNew = true
        for (const chunk of parts.respond(continuation.responses)) await stream.send(chunk)
      }
    }
  } catch (thrown) {
    signal.throwIfAborted()
    const { code, message } = toErrorReply(thrown).body.error
    await stream.send({ type: 'error', errorText: `${code}: ${message}` })
  }
  await stream.send('[DONE]')
}

export const aiSdkRoutes: readonly Route[] = [
  { method: 'POST', path: '/ai-sdk', handler: sendChat },
  { method: 'GET', path: '/ai-sdk/:name/stream', handler: resumeChat },
]
