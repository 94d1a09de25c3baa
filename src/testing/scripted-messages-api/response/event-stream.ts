import { defined } from '../../../common/defined.js'
import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import type { ReplyBlock } from './reply-block.js'
import type { Reply } from './build-reply.js'
import { message } from './message-body.js'

/** A serialized server-sent event. */
export interface StreamEvent {
  readonly name: string
  /** Index of its content block; null for events of the message. */
  readonly block: number | null
  readonly text: string
}

/** Numbers of characters of the deltas, in turn: uneven like tokens, but deterministic. */
const deltaLengths = [4, 11, 7, 16, 9]

/**
 * Returns the events of a streamed reply. Unlike the real API, which pads its JSON at random to hide token lengths, the
 * output is deterministic.
 */
export function streamEvents(reply: Reply): readonly StreamEvent[] {
  // As in the real API: the message is complete at its start.
  if (reply.continuesCode) return [event('message_start', { message: message(reply) }), event('message_stop', {})]
  const opening = reply.blocks.flatMap((block, index) => {
    const [start, ...rest] = blockEvents(block, index)
    return start === undefined ? [] : index === 0 ? [start, ping, ...rest] : [start, ...rest]
  })
  const middle = reply.blocks.length === 0 ? [ping] : opening
  return [messageStart(reply), ...middle, messageDelta(reply), event('message_stop', {})]
}

// The real API sends only this event with a space after the colon.
const ping: StreamEvent = { name: 'ping', block: null, text: 'event: ping\ndata: {"type": "ping"}\n\n' }

function messageStart(reply: Reply): StreamEvent {
  const { id, model, usage } = reply
  return event('message_start', {
    message: {
      model,
      id,
      type: 'message',
      role: 'assistant',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: { ...usage, output_tokens: 1 },
    },
  })
}

function blockEvents(block: ReplyBlock, index: number): readonly StreamEvent[] {
  const { opening, deltas } = streamedParts(block)
  return [
    event('content_block_start', { index, content_block: opening }, index),
    ...deltas.map((delta) => event('content_block_delta', { index, delta }, index)),
    event('content_block_stop', { index }, index),
  ]
}

/** Events of a block. Most start empty and grow by deltas; others are complete at the start. */
function streamedParts({ opening, streamed }: ReplyBlock): { opening: JsonObject; deltas: readonly JsonObject[] } {
  if (streamed?.delta === 'text_delta') return { opening, deltas: textDeltas('text_delta', 'text', streamed.text) }
  if (streamed !== null) return { opening, deltas: inputDeltas(streamed.text) }
  const { type, thinking, signature, input } = opening
  if (type === 'thinking' && typeof thinking === 'string' && typeof signature === 'string') {
    const deltas = [...textDeltas('thinking_delta', 'thinking', thinking), { type: 'signature_delta', signature }]
    return { opening: { ...opening, thinking: '', signature: '' }, deltas }
  }
  if (type === 'server_tool_use' && input !== undefined) {
    return { opening: { ...opening, input: {} }, deltas: inputDeltas(JSON.stringify(input)) }
  }
  return { opening, deltas: [] }
}

/** The input of a tool starts with an empty delta. */
function inputDeltas(json: string): readonly JsonObject[] {
  const type = 'input_json_delta'
  return [{ type, partial_json: '' }, ...textDeltas(type, 'partial_json', json)]
}

function textDeltas(type: string, field: string, text: string): readonly JsonObject[] {
  return splitText(text).map((piece) => ({ type, [field]: piece }))
}

function messageDelta(reply: Reply): StreamEvent {
  const { usage, container, contextManagement } = reply
  const delta = {
    stop_reason: reply.stopReason,
    stop_sequence: reply.stopSequence,
    stop_details: reply.stopDetails,
    ...defined({ container }),
  }
  // Cumulative usage, without the fields that only message_start has.
  const { cache_creation: _creation, service_tier: _tier, inference_geo: _geo, ...totals } = usage
  return event('message_delta', {
    delta,
    usage: totals,
    ...defined({ context_management: contextManagement }),
  })
}

/** An `error` event, after which the stream ends. */
export function errorEvent(type: string, message: string, requestId: string): StreamEvent {
  return event('error', { error: { details: null, type, message }, request_id: requestId })
}

function event(name: string, rest: Readonly<Record<string, JsonValue>>, block: number | null = null): StreamEvent {
  return { name, block, text: `event: ${name}\ndata: ${JSON.stringify({ type: name, ...rest })}\n\n` }
}

/** Splits a text into small pieces between characters. */
function splitText(text: string): readonly string[] {
  const characters = Array.from(text)
  const pieces: string[] = []
  for (let start = 0, turn = 0; start < characters.length; turn += 1) {
    const length = deltaLengths[turn % deltaLengths.length] ?? 8
    pieces.push(characters.slice(start, start + length).join(''))
    start += length
  }
  return pieces
}
