import { setInterval } from 'node:timers'
import { digestJson } from '../../common/calls/call-identity.js'
import { PtcError, type ErrorCode } from '../../common/errors.js'
import type { ConversationAnswer, RunTree } from '../../client/index.js'
import type { MessageStatus } from '../../common/conversation/conversation.js'
import type { JsonObject } from '../../common/json/json.js'
import { EventStream } from '../event-stream.js'
import type { Exchange, Reply } from '../router.js'
import { containerMs } from './container.js'
import { requestIdOf, toApiErrorReply } from './errors.js'
import type { FollowedMessage, Pause } from './follow-message.js'
import type { MessagesRequest } from './request.js'
import { plainReply, type ReplyContent, replyAfter, type ReplyBlock } from './transcript.js'

/** A message of the assistant in the form in which the API sends it. */
interface MessageBody extends JsonObject {
  readonly content: ReplyBlock[]
}

/** The conversation that a response is for. */
interface Responding {
  /** Name of the conversation, which is also the id of the container, except for a plain request. */
  readonly name: string
  readonly request: MessagesRequest
  readonly message: FollowedMessage
}

const stopReasons: Partial<Readonly<Record<MessageStatus, string>>> = {
  answered: 'end_turn',
  truncated: 'max_tokens',
  refused: 'refusal',
  context_full: 'model_context_window_exceeded',
}

/**
 * The message of the assistant for a pause.
 *
 * @throws PtcError when the work ended without an answer
 */
function messageBody(responding: Responding, { tree, answer }: Pause): MessageBody {
  const { name, message, request } = responding
  const { codeCallerType, options } = request
  const reply =
    codeCallerType === undefined
      ? plainReply(tree, message.id)
      : replyAfter(tree, message.id, message.after, codeCallerType)
  const content = options.outputSchema ? withOutput(reply.blocks, answer) : reply.blocks
  const stop = stopOf(tree, message.id, answer, content)
  if (stop === undefined) {
    const { status, error } = answer ?? {}
    // The code is that of an error, or of a failure of Temporal.
    throw new PtcError(
      (error?.code ?? 'LIMIT_EXCEEDED') as ErrorCode,
      error?.message ?? `the work ended with status ${status}`,
    )
  }
  const expiresAt = new Date(reply.expiresAt ?? Date.now() + containerMs).toISOString()
  return {
    ...emptyMessage(responding),
    content: [...content],
    container: codeCallerType === undefined ? null : { id: name, expires_at: expiresAt, skills: null },
    ...stop,
    usage: usageOf(reply),
  }
}

/** Replaces the texts by the JSON of the answer: a client with a schema parses each text. */
function withOutput(blocks: readonly ReplyBlock[], answer: ConversationAnswer | undefined): readonly ReplyBlock[] {
  const others = blocks.filter(({ type }) => type !== 'text')
  const { output } = answer ?? {}
  return output === undefined ? others : [...others, { type: 'text', text: JSON.stringify(output) }]
}

/** Undefined when the work ended without an answer. */
function stopOf(
  { turns }: RunTree,
  message: string,
  answer: ConversationAnswer | undefined,
  content: readonly ReplyBlock[],
): Pick<JsonObject, 'stop_reason' | 'stop_sequence'> | undefined {
  const reason = answer ? stopReasons[answer.status] : 'tool_use'
  if (reason !== 'end_turn') return reason === undefined ? undefined : { stop_reason: reason, stop_sequence: null }
  if (content.at(-1)?.type === 'tool_use') return { stop_reason: 'tool_use', stop_sequence: null }
  const model = turns.findLast((turn) => turn.message === message)?.model
  if (model?.status !== 'ok' || model.stopReason !== 'stop_sequence')
    return { stop_reason: reason, stop_sequence: null }
  return { stop_reason: 'stop_sequence', stop_sequence: model.stopSequence ?? null }
}

function emptyMessage({ name, request: { model }, message: { id, after } }: Responding): MessageBody {
  return {
    id: `msg_${digestJson([name, id, [...after].toSorted()])}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    container: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  }
}

function usageOf({ usage }: Pick<ReplyContent, 'usage'>): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
  }
}

/** Responds to a request when `pause` resolves. */
export async function respond(
  exchange: Exchange,
  responding: Responding,
  pause: () => Promise<Pause>,
): Promise<Reply | undefined> {
  if (responding.request.isStream) return respondWithEvents(exchange, responding, pause)
  return { body: messageBody(responding, await pause()) }
}

/** Milliseconds between two pings. */
const pingMs = 10_000

/**
 * Responds with the events of the API. All blocks are sent when the conversation pauses.
 *
 * @throws what `pause` throws, after the client has got an error event
 */
async function respondWithEvents(
  { response, signal, onError }: Exchange,
  responding: Responding,
  pause: () => Promise<Pause>,
): Promise<undefined> {
  using stream = new EventStream(response, signal)
  const send = (event: JsonObject & { readonly type: string }) => stream.send(event, undefined, event.type)
  await send({ type: 'message_start', message: emptyMessage(responding) })
  const pings = setInterval(() => void send({ type: 'ping' }).catch(() => undefined), pingMs)
  try {
    const { content, container, stop_reason, stop_sequence, usage } = messageBody(responding, await pause())
    clearInterval(pings)
    for (const [index, block] of content.entries()) for (const event of blockEvents(index, block)) await send(event)
    const delta = {
      container: container ?? null,
      stop_reason: stop_reason ?? null,
      stop_sequence: stop_sequence ?? null,
      stop_details: null,
    }
    await send({ type: 'message_delta', delta, usage: usage ?? null })
    await send({ type: 'message_stop' })
  } catch (thrown) {
    clearInterval(pings)
    signal.throwIfAborted()
    onError(thrown)
    await send({ ...toApiErrorReply(thrown, requestIdOf(response)).body })
    throw thrown
  }
  return undefined
}

/** The events of a block: it begins empty, and its text or its input is the only delta. */
function blockEvents(index: number, block: ReplyBlock): readonly (JsonObject & { readonly type: string })[] {
  const start = (begun: ReplyBlock) => ({ type: 'content_block_start', index, content_block: begun })
  const delta = (added: JsonObject) => ({ type: 'content_block_delta', index, delta: added })
  const stop = { type: 'content_block_stop', index }
  switch (block.type) {
    case 'text':
      return [start({ ...block, text: '' }), delta({ type: 'text_delta', text: block['text'] ?? '' }), stop]
    case 'tool_use':
    case 'server_tool_use': {
      const json = JSON.stringify(block['input'])
      return [start({ ...block, input: {} }), delta({ type: 'input_json_delta', partial_json: json }), stop]
    }
    default:
      return [start(block), stop]
  }
}
