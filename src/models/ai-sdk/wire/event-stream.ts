import { PtcError } from '../../../common/errors.js'
import { isJsonObject, type JsonObject } from '../../../common/json/json.js'
import { tokenCount } from '../../reply/token-count.js'

/** Turns the events of any server of an API into those that the packages of the AI SDK accept. */
export interface EventStream {
  /** Whether the last event has arrived. */
  readonly isComplete: boolean
  /** The events in place of this one. */
  add(value: unknown): readonly JsonObject[]
  /**
   * The events that are missing.
   *
   * @param isEnded the server has said that the stream ends here
   * @throws PtcError for an incomplete reply
   */
  end(isEnded: boolean): readonly JsonObject[]
}

export function cutReply(): PtcError {
  return new PtcError('MODEL_STREAM', "The model's reply can't be used: it ended in the middle.", {
    hint: 'Usually passes by itself; the call is tried again.',
  })
}

/** Usage whose counts are numbers: others become 0. */
export function toCounts(usage: JsonObject): JsonObject {
  const counts = Object.entries(usage).map(([name, value]) => [
    name,
    isJsonObject(value) ? toCounts(value) : (tokenCount(value) ?? 0),
  ])
  return Object.fromEntries(counts) as JsonObject
}
