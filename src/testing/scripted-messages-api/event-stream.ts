import type { JsonObject, JsonValue } from '../../common/json.js'
import type { ReplyBlock } from './reply-block.js'
import type { Reply } from './reply.js'

/** One server-sent event, ready for the wire. */
export interface StreamEvent {
  readonly name: string
  /** Index of the content block it belongs to; null for events of the message. */
  readonly block: number | null
  readonly text: string
}

/** Characters a delta carries, in turn: uneven, as tokens are, but always the same. */
const pieceLengths = [4, 11, 7, 16, 9]

/**
 * A reply as the real API streams it, event by event. (The real one also pads its JSON with blanks at random, to hide token
 * lengths; this does not, so that the bytes can be compared.)
 */
export function streamEvents(reply: Reply): readonly StreamEvent[] {
  const opening = reply.blocks.flatMap((block, index) => {
    const [start, ...rest] = blockEvents(block, index)
    return start === undefined ? [] : index === 0 ? [start, ping, ...rest] : [start, ...rest]
  })
  const middle = reply.blocks.length === 0 ? [ping] : opening
  return [messageStart(reply), ...middle, messageDelta(reply), event('message_stop', {})]
}

// The real API sends this one, and only this one, with a blank after the colon.
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
  const { opening, deltas } = streamForm(block)
  return [
    event('content_block_start', { index, content_block: opening }, index),
    ...deltas.map((delta) => event('content_block_delta', { index, delta }, index)),
    event('content_block_stop', { index }, index),
  ]
}

/** How a block is streamed: most open empty and grow; one of a kind that does not is whole from the start. */
function streamForm({ opening, streamed }: ReplyBlock): { opening: JsonObject; deltas: readonly JsonObject[] } {
  if (streamed?.delta === 'text_delta') return { opening, deltas: grow('text_delta', 'text', streamed.text) }
  if (streamed !== null) return { opening, deltas: inputDeltas(streamed.text) }
  const { type, thinking, signature, input } = opening
  if (type === 'thinking' && typeof thinking === 'string' && typeof signature === 'string') {
    const deltas = [...grow('thinking_delta', 'thinking', thinking), { type: 'signature_delta', signature }]
    return { opening: { ...opening, thinking: '', signature: '' }, deltas }
  }
  if (type === 'server_tool_use' && input !== undefined) {
    return { opening: { ...opening, input: {} }, deltas: inputDeltas(JSON.stringify(input)) }
  }
  return { opening, deltas: [] }
}

/** A tool's input begins with an empty piece. */
function inputDeltas(json: string): readonly JsonObject[] {
  const type = 'input_json_delta'
  return [{ type, partial_json: '' }, ...grow(type, 'partial_json', json)]
}

function grow(type: string, field: string, text: string): readonly JsonObject[] {
  return piecesOf(text).map((piece) => ({ type, [field]: piece }))
}

function messageDelta(reply: Reply): StreamEvent {
  const { usage, container } = reply
  const delta = {
    stop_reason: reply.stopReason,
    stop_sequence: reply.stopSequence,
    stop_details: reply.stopDetails,
    ...(container === undefined ? {} : { container }),
  }
  // Cumulative, and without what only the start tells.
  const { cache_creation: _creation, service_tier: _tier, inference_geo: _geo, ...totals } = usage
  return event('message_delta', { delta, usage: totals })
}

/** An `error` event, after which the stream ends. */
export function errorEvent(type: string, message: string, requestId: string): StreamEvent {
  return event('error', { error: { details: null, type, message }, request_id: requestId })
}

function event(name: string, rest: Readonly<Record<string, JsonValue>>, block: number | null = null): StreamEvent {
  return { name, block, text: `event: ${name}\ndata: ${JSON.stringify({ type: name, ...rest })}\n\n` }
}

/** Text in small pieces that never split a character. */
function piecesOf(text: string): readonly string[] {
  const characters = Array.from(text)
  const pieces: string[] = []
  for (let start = 0, turn = 0; start < characters.length; turn += 1) {
    const length = pieceLengths[turn % pieceLengths.length] ?? 8
    pieces.push(characters.slice(start, start + length).join(''))
    start += length
  }
  return pieces
}
