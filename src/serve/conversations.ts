import { z } from 'zod'
import type { Conversation, ConversationAnswer } from '../client/index.js'
import { parseMessages } from '../client/conversations/conversation-options.js'
import { raceWithSignal, withTimeLimit } from '../common/async/abort.js'
import { defined } from '../common/defined.js'
import { PtcError } from '../common/errors.js'
import { attachmentLimits, mediaTypes } from '../common/conversation/attachments.js'
import { maxFiles } from '../common/files/files.js'
import { maxContextBytes } from '../common/run/runs.js'
import { truncateEnd } from '../common/text/text.js'
import { isOffset, type StreamEvent } from '../stream/index.js'
import { EventStream } from './event-stream.js'
import { publicError, toErrorReply } from './errors.js'
import {
  type Exchange,
  type Handler,
  jsonObject,
  maxMessageBytes,
  readBody,
  type Reply,
  type Route,
  shortArray,
} from './router.js'

/** Bytes in base64. The server reads no files for a client. */
const attachmentBody = z.strictObject({
  data: z.string(),
  mediaType: z.enum(mediaTypes).exactOptional(),
  name: z.string().exactOptional(),
})

/** Bytes in base64. Larger files are uploaded to a conversation that has begun. */
const fileBody = z.strictObject({ path: z.string(), data: z.string() })

const sendBody = z.strictObject({
  text: z.string(),
  files: shortArray(fileBody, maxFiles).exactOptional(),
  attachments: shortArray(attachmentBody, attachmentLimits.count).exactOptional(),
  id: z.string().min(1).max(200).exactOptional(),
  steer: z.boolean().exactOptional(),
  agent: z.string().exactOptional(),
  session: z.string().exactOptional(),
  context: jsonObject
    .refine(
      (value) => Buffer.byteLength(JSON.stringify(value)) <= maxContextBytes,
      `at most ${maxContextBytes} bytes of JSON`,
    )
    .exactOptional(),
})

/** `POST …/messages`: 202 when the conversation has accepted the message; with `?wait` the answer (invariant 3). */
async function sendMessage(exchange: Exchange): Promise<Reply> {
  const { ptc, params, url, signal } = exchange
  const { text, files, agent, session, context, ...rest } = await readBody(exchange, sendBody, maxMessageBytes)
  const uploads = files?.map(toUpload)
  const options = { ...rest, ...(uploads && { files: uploads }) }
  const started = defined({ agent, session, context })
  const conversation = ptc.conversation(nameOf(params), started)
  const { id } = await whenAccepted(signal, conversation.send(text, options))
  if (url.searchParams.has('wait')) return { body: await publicAnswer(conversation.answer(id, { signal })) }
  return { status: 202, body: { id, stream: `/conversations/${encodeURIComponent(conversation.name)}/stream` } }
}

/** @throws PtcError RUN_INPUT_INVALID */
function toUpload({ path, data }: z.output<typeof fileBody>): { readonly path: string; readonly data: Uint8Array } {
  const bytes = Buffer.from(data, 'base64')
  // Node leaves out what is not base64.
  if (bytes.toString('base64') === data) return { path, data: bytes }
  throw new PtcError('RUN_INPUT_INVALID', `the data of file ${JSON.stringify(truncateEnd(path, 100))} is not base64`)
}

async function publicAnswer(answering: Promise<ConversationAnswer>): Promise<ConversationAnswer> {
  const { error, ...answer } = await answering
  return { ...answer, ...(error && { error: publicError(error) }) }
}

/** A message without a worker waits in the server. After this time its client gets an error. */
const acceptanceMs = 30_000

/**
 * Waits until a conversation has accepted a message.
 *
 * @throws PtcError WORKER_MISSING after 30 seconds; what `sending` throws; the signal's reason
 */
export function whenAccepted<Result>(signal: AbortSignal, sending: Promise<Result>): Promise<Result> {
  return withTimeLimit(signal, acceptanceMs, async (limit) => {
    try {
      return await raceWithSignal(limit, sending)
    } catch (thrown) {
      signal.throwIfAborted()
      if (!limit.aborted) throw thrown
      throw new PtcError('WORKER_MISSING', `no worker has taken the request within ${acceptanceMs / 1_000} s`, {
        hint: 'It may be taken later. Send a message again under the same id.',
      })
    }
  })
}

/**
 * Closes a conversation that no request will use again. A message that is still being sent may start the conversation,
 * so it is closed once more after the sending has settled. Never rejects: the conversation may not have started, or may
 * have ended.
 */
export async function closeAfter(conversation: Conversation, sending: Promise<unknown>): Promise<void> {
  const close = (): Promise<unknown> => conversation.close().catch(() => undefined)
  await Promise.all([close(), sending.then(close, close)])
}

/** `GET …/stream`: the live stream as Server-Sent Events. Their ids are offsets. */
async function streamConversation({ ptc, params, url, request, response, signal }: Exchange): Promise<undefined> {
  const conversation = ptc.conversation(nameOf(params))
  const lastId = request.headers['last-event-id']
  const from = (typeof lastId === 'string' && lastId !== '' ? lastId : url.searchParams.get('from')) ?? undefined
  if (from !== undefined && !isOffset(from)) {
    throw new PtcError('RUN_INPUT_INVALID', `${JSON.stringify(from)} is not an offset of a stream`, {
      hint: 'Give the id of an event of this stream.',
    })
  }
  // An unknown conversation is an error of the request, not of the stream.
  await requireStarted(ptc, conversation)
  const events = ptc.handle(conversation.workflowId).stream({ ...defined({ from }), signal })
  await sendEvents(events, new EventStream(response, signal))
}

async function sendEvents(events: AsyncIterable<StreamEvent>, stream: EventStream): Promise<void> {
  using _ = stream
  try {
    for await (const event of events) await stream.send(publicEvent(event), event.offset)
  } catch (thrown) {
    // When the client has left, this throws the same error again.
    await stream.send({ type: 'error', ...toErrorReply(thrown).body })
  }
}

/** The event without messages for the operators of the agent. */
function publicEvent(event: StreamEvent): StreamEvent {
  if (event.type === 'end' && event.error) return { ...event, error: publicError(event.error) }
  if (event.type === 'compaction.completed' && event.problem !== undefined)
    return { ...event, problem: 'a summary that was needed could not be made' }
  if (event.type !== 'turn.failed' || event.message === undefined) return event
  const { code, message } = event
  return { ...event, message: publicError({ code, message }).message }
}

/** @throws PtcError CONVERSATION_NOT_FOUND, TEMPORAL_UNREACHABLE */
export async function requireStarted(ptc: Exchange['ptc'], { name, workflowId }: Conversation): Promise<void> {
  try {
    await ptc.handle(workflowId).describe()
  } catch (thrown) {
    if (!PtcError.isInstance(thrown) || thrown.code !== 'TEMPORAL_NOT_FOUND') throw thrown
    throw new PtcError('CONVERSATION_NOT_FOUND', `there is no conversation ${name}`, {
      hint: 'Its first message starts it.',
      cause: thrown,
    })
  }
}

const maxListed = 100

/** `GET /conversations`: the newest open conversations. */
async function listConversations({ ptc }: Exchange): Promise<Reply> {
  const runs = await ptc.list({ type: 'conversation', status: 'running', limit: maxListed })
  return {
    body: runs.flatMap(({ workflowId, summary, startedAt }) => {
      const name = conversationNameOf(ptc, workflowId)
      return name === undefined ? [] : [{ name, summary, startedAt }]
    }),
  }
}

/** @returns undefined for a run that is not a conversation */
export function conversationNameOf({ taskQueue }: Exchange['ptc'], workflowId: string): string | undefined {
  const prefix = `conversation:${taskQueue}:`
  return workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : undefined
}

const interruptBody = z.strictObject({ what: z.enum(['message', 'code']).exactOptional() })
const resetBody = z.strictObject({ messages: z.array(z.unknown()).exactOptional() })

/** A route whose handler uses the conversation of the path. */
function withConversation(handler: (conversation: Conversation, exchange: Exchange) => Promise<Reply>): Handler {
  return (exchange) => handler(exchange.ptc.conversation(nameOf(exchange.params)), exchange)
}

function nameOf({ name = '' }: Exchange['params']): string {
  return name
}

export const conversationRoutes: readonly Route[] = [
  { method: 'GET', path: '/conversations', handler: listConversations },
  {
    method: 'GET',
    path: '/conversations/:name',
    handler: withConversation(async (conversation) => ({ body: await conversation.status() })),
  },
  { method: 'POST', path: '/conversations/:name/messages', handler: sendMessage },
  {
    method: 'GET',
    path: '/conversations/:name/messages/:id',
    handler: withConversation(async (conversation, { params: { id = '' }, signal }) => ({
      body: await publicAnswer(conversation.answer(id, { signal })),
    })),
  },
  { method: 'GET', path: '/conversations/:name/stream', handler: streamConversation },
  {
    method: 'GET',
    path: '/conversations/:name/history',
    handler: withConversation(async (conversation) => ({ body: await conversation.history() })),
  },
  {
    method: 'POST',
    path: '/conversations/:name/interrupt',
    handler: withConversation(async (conversation, exchange) => {
      const { what } = await readBody(exchange, interruptBody)
      await conversation.interrupt(what)
      return {}
    }),
  },
  {
    method: 'POST',
    path: '/conversations/:name/reset',
    handler: withConversation(async (conversation, exchange) => {
      const { messages = [] } = await readBody(exchange, resetBody)
      await whenAccepted(exchange.signal, conversation.reset(parseMessages(messages)))
      return {}
    }),
  },
  {
    method: 'POST',
    path: '/conversations/:name/close',
    handler: withConversation(async (conversation) => ({ body: await conversation.close() })),
  },
]
