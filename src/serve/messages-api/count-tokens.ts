import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import { estimateTokens } from '../../common/agent/context-window.js'
import { isMedia } from './blocks.js'
import { parseRequest } from './request.js'

/** Approximate tokens of a large image; a document costs more. */
const mediaTokens = 1_600

/**
 * The response to a request to count tokens. The number is an estimate from the characters: the server has no tokenizer
 * and asks no provider.
 *
 * @throws BadRequest
 */
export function countTokens(body: unknown): JsonObject {
  const { messages, options } = parseRequest(isJsonObject(body) ? { max_tokens: 1, ...body } : body)
  const { clientTools = [], instructions = '', outputSchema } = options
  const blocks = messages.flatMap(({ content }) => content)
  const media = blocks.filter(isMedia).length
  const texts = JSON.stringify([
    blocks.filter((block) => !isMedia(block)),
    clientTools,
    instructions,
    outputSchema ?? null,
  ])
  return { input_tokens: estimateTokens(texts.length) + media * mediaTokens }
}
