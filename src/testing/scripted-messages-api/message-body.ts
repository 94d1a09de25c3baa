import type { JsonObject } from '../../common/json.js'
import { wholeBlock } from './reply-block.js'
import type { Reply } from './reply.js'

/** A complete message, as POST /v1/messages answers without `stream`. */
export function messageBody(reply: Reply): string {
  return JSON.stringify({
    model: reply.model,
    id: reply.id,
    type: 'message',
    role: 'assistant',
    content: reply.blocks.map(wholeBlock),
    stop_reason: reply.stopReason,
    stop_sequence: reply.stopSequence,
    stop_details: reply.stopDetails,
    usage: reply.usage,
    ...(reply.container === undefined ? {} : { container: reply.container }),
  } satisfies JsonObject)
}
