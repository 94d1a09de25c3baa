import { defined } from '../../../common/defined.js'
import type { JsonObject } from '../../../common/json/json.js'
import { toContentBlock } from './reply-block.js'
import type { Reply } from './build-reply.js'

/** Body of the response to POST /v1/messages without `stream`. */
export function messageBody(reply: Reply): string {
  return JSON.stringify(message(reply))
}

export function message(reply: Reply): JsonObject {
  return {
    model: reply.model,
    id: reply.id,
    type: 'message',
    role: 'assistant',
    content: reply.blocks.map(toContentBlock),
    stop_reason: reply.stopReason,
    stop_sequence: reply.stopSequence,
    stop_details: reply.stopDetails,
    usage: reply.usage,
    ...defined({ context_management: reply.contextManagement, container: reply.container }),
  }
}
