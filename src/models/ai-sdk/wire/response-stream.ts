import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json/json.js'
import { eventIndex, eventText } from '../../http/event-data.js'
import { invalidReply } from '../../reply/invalid-reply.js'
import { isTruncating, toStopReason } from '../../reply/stop-reason.js'
import { tokenCount } from '../../reply/token-count.js'
import { inputText } from '../../reply/tool-input.js'
import { cutReply, type EventStream } from './event-stream.js'

const delta = /^response\.(?:output_text|refusal|function_call_arguments|reasoning_summary_text)\.delta$/
const summaryPart = /^response\.reasoning_summary_part\.(?:added|done)$/

/**
 * Turns the events of any server for the responses API into those of OpenAI, which the AI SDK accepts: each item is
 * begun and done once, a text has deltas, and a response that is cut says so. Events of other types are left out.
 */
export class ResponseStream implements EventStream {
  #isComplete = false
  /** The ids of the items that have begun, by their number. */
  readonly #ids = new Map<number, string>()
  readonly #callIds = new Map<number, string>()
  /** The numbers of the items whose text has arrived in deltas. */
  readonly #said = new Set<number>()
  #doneItems = 0

  get isComplete(): boolean {
    return this.#isComplete
  }

  add(value: unknown): readonly JsonObject[] {
    if (!isJsonObject(value) || typeof value['type'] !== 'string') return []
    const { type, item, response } = value
    const index = eventIndex.parse(value['output_index'])
    switch (type) {
      case 'response.created':
        return isJsonObject(response) ? toCreated(response) : []
      case 'response.output_item.added':
        return isItem(item) ? this.#begin(index ?? this.#ids.size, item) : []
      case 'response.output_item.done':
        return isItem(item) ? this.#finish(index ?? this.#doneItems, item) : []
      case 'response.completed':
      case 'response.incomplete':
        return isJsonObject(response) ? this.#complete(response, type === 'response.incomplete') : []
      default:
        if (delta.test(String(type))) return this.#addDelta(index ?? 0, value)
        return summaryPart.test(String(type)) ? this.#addSummary(value) : []
    }
  }

  end(isEnded: boolean): readonly JsonObject[] {
    if (this.#isComplete) return []
    if (isEnded && this.#doneItems > 0) return this.#complete({}, false)
    // The server often gives the same again.
    throw isEnded ? invalidReply('it has no whole item') : cutReply()
  }

  #begin(index: number, item: JsonObject): readonly JsonObject[] {
    if (this.#ids.has(index)) return []
    const { type, id, call_id: callId } = item
    this.#ids.set(index, typeof id === 'string' ? id : `item_${index}`)
    if (type === 'function_call') {
      // The ids that the conversation has are those of the engine.
      const isUsed = [...this.#callIds.values()].includes(String(callId))
      this.#callIds.set(index, typeof callId === 'string' && !isUsed ? callId : `${index}_${String(callId)}`)
    }
    const begun = this.#toItem(index, item)
    return [{ type: 'response.output_item.added', output_index: index, item: begun }]
  }

  #finish(index: number, item: JsonObject): readonly JsonObject[] {
    const begun = this.#begin(index, item)
    const texts = item['type'] === 'message' && !this.#said.has(index) ? textsOf(item['content']) : []
    this.#doneItems += 1
    return [
      ...begun,
      ...texts.flatMap((added) => this.#addDelta(index, added)),
      { type: 'response.output_item.done', output_index: index, item: this.#toItem(index, item) },
    ]
  }

  #addDelta(index: number, event: JsonObject): readonly JsonObject[] {
    const added = eventText.parse(event['delta'])
    if (added === undefined) return []
    this.#said.add(index)
    const begun = this.#ids.has(index) ? [] : this.#begin(index, { type: 'message' })
    // A summary belongs to an item that has begun.
    if (event['summary_index'] !== undefined && this.#addSummary(event).length === 0) return []
    return [...begun, { ...event, ...this.#place(index), delta: added }]
  }

  #addSummary(event: JsonObject): readonly JsonObject[] {
    const { item_id: id, summary_index: index } = event
    return [...this.#ids.values()].includes(String(id)) && typeof index === 'number' ? [event] : []
  }

  #place(index: number): JsonObject {
    return { output_index: index, item_id: this.#ids.get(index) ?? '', logprobs: null }
  }

  #toItem(index: number, item: JsonObject): JsonObject {
    const known = { ...item, id: this.#ids.get(index) ?? '' }
    if (item['type'] !== 'function_call') return known
    const { name, arguments: text } = item
    return {
      ...known,
      call_id: this.#callIds.get(index) ?? '',
      name: typeof name === 'string' && name !== '' ? name : 'unnamed',
      arguments: inputText(text),
      // Of a call that is cut as well: `response.completed` says so.
      status: 'completed',
    }
  }

  #complete({ output, usage, status, incomplete_details: given }: JsonObject, isCut: boolean): readonly JsonObject[] {
    // Some servers send the output only at the end, others leave it out there.
    const rest = (Array.isArray(output) ? (output as readonly unknown[]) : []).slice(this.#doneItems)
    const items = rest.filter(isItem).flatMap((item) => this.#finish(this.#doneItems, item))
    if (this.#ids.size > this.#doneItems) throw invalidReply('an item of it is missing')
    this.#isComplete = true
    const reason = cutBy(status, isJsonObject(given) ? given['reason'] : undefined, isCut)
    const details = reason === undefined ? null : { reason }
    return [...items, { type: 'response.completed', response: { usage: toUsage(usage), incomplete_details: details } }]
  }
}

function isItem(value: unknown): value is JsonObject {
  return isJsonObject(value) && typeof value['type'] === 'string'
}

function toCreated({ id, created_at: at, model }: JsonObject): readonly JsonObject[] {
  if (typeof model !== 'string') return []
  const response = { id: String(id ?? ''), created_at: typeof at === 'number' ? at : 0, model }
  return [{ type: 'response.created', response }]
}

/**
 * Why a response is incomplete, in OpenAI's words; undefined for a complete one. Nothing is executed of a reply that is
 * incomplete for an unknown reason.
 *
 * @throws PtcError MODEL_SERVER for a response that has failed, which some servers say in its status only
 */
function cutBy(status: unknown, details: unknown, isCut: boolean): string | undefined {
  const given = eventText.parse(details)
  const reason = given ?? (isCut || status === 'incomplete' ? 'incomplete' : undefined)
  const stopReason = toStopReason(reason ?? eventText.parse(status) ?? 'completed')
  if (stopReason === 'refusal') return 'content_filter'
  return reason !== undefined || isTruncating(stopReason) ? 'max_output_tokens' : undefined
}

/** The texts of a message as deltas. */
function textsOf(content: JsonValue | undefined): readonly JsonObject[] {
  const parts = (Array.isArray(content) ? (content as readonly unknown[]) : []).filter(isJsonObject)
  return parts.flatMap(({ type, text, refusal }): readonly JsonObject[] => {
    if (type === 'output_text' && typeof text === 'string') return [{ type: 'response.output_text.delta', delta: text }]
    return type === 'refusal' && typeof refusal === 'string' ? [{ type: 'response.refusal.delta', delta: refusal }] : []
  })
}

function toUsage(usage: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(usage)) return null
  const details = isJsonObject(usage['input_tokens_details']) ? usage['input_tokens_details'] : {}
  const count = (value: JsonValue | undefined): number => tokenCount(value) ?? 0
  return {
    input_tokens: count(usage['input_tokens']),
    output_tokens: count(usage['output_tokens']),
    input_tokens_details: {
      cached_tokens: count(details['cached_tokens']),
      cache_write_tokens: count(details['cache_write_tokens']),
    },
  }
}
