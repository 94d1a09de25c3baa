import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json/json.js'
import { eventText } from '../../http/event-data.js'
import { invalidReply } from '../../reply/invalid-reply.js'
import { isTruncating, toStopReason } from '../../reply/stop-reason.js'
import { cutReply, type EventStream, toCounts } from './event-stream.js'

/**
 * Watches the events of the responses API: a response is complete, with each item that has begun, or an error. A
 * response that is cut says so, by whatever name its server gives the reason.
 */
export class ResponseStream implements EventStream {
  #isComplete = false
  #begun = 0
  #done = 0

  get isComplete(): boolean {
    return this.#isComplete
  }

  add(value: unknown): readonly JsonObject[] {
    if (!isJsonObject(value)) return []
    const { type, item, response } = value
    if (type === 'response.output_item.added') this.#begun += 1
    if (type === 'response.output_item.done') {
      this.#done += 1
      // The AI SDK takes no call that is cut. `response.completed` says that.
      if (isJsonObject(item) && item['type'] === 'function_call')
        return [{ ...value, item: { ...item, status: 'completed' } }]
    }
    if ((type !== 'response.completed' && type !== 'response.incomplete') || !isJsonObject(response)) return [value]
    return [this.#complete(response, type === 'response.incomplete')]
  }

  end(isEnded: boolean): readonly JsonObject[] {
    if (this.#isComplete) return []
    // Some compatible servers leave the last event out.
    if (isEnded && this.#done > 0) return [this.#complete({}, false)]
    // The server often gives the same again.
    throw isEnded ? invalidReply('it has no whole item') : cutReply()
  }

  #complete({ output, usage, status, incomplete_details: given }: JsonObject, isCut: boolean): JsonObject {
    const reason = cutBy(status, isJsonObject(given) ? given['reason'] : undefined, isCut)
    // Some servers leave the output out here.
    const items = Math.max(this.#begun, Array.isArray(output) ? output.length : 0)
    if (items > this.#done) throw invalidReply('an item of it is missing')
    this.#isComplete = true
    const details = reason === undefined ? null : { reason }
    const counts = isJsonObject(usage) ? { input_tokens: 0, output_tokens: 0, ...toCounts(usage) } : null
    return { type: 'response.completed', response: { usage: counts, incomplete_details: details } }
  }
}

/**
 * Why a response is incomplete, in OpenAI's words; undefined for a complete one. Nothing is executed of a reply that is
 * incomplete for an unknown reason.
 *
 * @throws PtcError MODEL_SERVER for a response that has failed, which some servers say in its status only
 */
function cutBy(status: JsonValue | undefined, given: JsonValue | undefined, isCut: boolean): string | undefined {
  const reason = eventText.parse(given) ?? (isCut || status === 'incomplete' ? 'incomplete' : undefined)
  const stopReason = toStopReason(reason ?? eventText.parse(status) ?? 'completed')
  if (stopReason === 'refusal') return 'content_filter'
  return reason !== undefined || isTruncating(stopReason) ? 'max_output_tokens' : undefined
}
