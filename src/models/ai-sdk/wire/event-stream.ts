import { PtcError } from '../../../common/errors.js'
import type { JsonObject } from '../../../common/json/json.js'

/** Turns the events of any server of an API into those that the packages of the AI SDK accept. */
export interface EventStream {
  /** Whether the last event has arrived. */
  readonly isComplete: boolean
  /** @returns the events in place of this one */
  add(value: unknown): readonly JsonObject[]
  /**
   * @param isEnded the server has said that the stream ends here
   * @returns the events that are missing
   * @throws PtcError for an incomplete reply
   */
  end(isEnded: boolean): readonly JsonObject[]
}

export function cutReply(): PtcError {
  return new PtcError('MODEL_STREAM', "The model's reply can't be used: it ended in the middle.", {
    hint: 'Usually passes by itself; the call is tried again.',
  })
}
