/*
 * `src/serve/messages-api` owns the paths `/v1/…`: the Messages API with programmatic tool calling, whose code runs in
 * this package's sandboxes. A container of the API is a conversation with client tools. A plain request, without code,
 * is a conversation of its own, with one message.
 *
 * Boundary: requests and responses of that API on one side, the client library on the other. It keeps no state.
 *
 * Invariants:
 * 1. A repeated request of a container is the same message and makes no call twice. It gets the same response as the
 *    first one.
 * 2. A client without the id of a container can neither read nor complete its calls.
 * 3. The server does everything that a request asks for, or refuses the request with an error that names the
 *    unsupported field. It ignores fields without effect, and names them in a header.
 * 4. Each response is an error, or a pause: the conversation has answered, or waits for results of calls.
 * 5. A conversation whose id no client knows is closed.
 */

import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import { estimateTokens } from '../../common/agent/context-window.js'
import { type Exchange, readBody, type Reply, type Route } from '../router.js'
import { answerContainer } from './answer-container.js'
import { answerPlain } from './answer-plain.js'
import { isMedia } from './blocks.js'
import { parseRequest } from './request.js'

/** The limit of the API. */
const maxBodyBytes = 32 * 1024 * 1024

async function createMessage(exchange: Exchange): Promise<Reply | undefined> {
  const request = parseRequest(await readBody(exchange, z.unknown(), maxBodyBytes))
  const { codeCallerType } = request
  if (request.ignored.length > 0) exchange.response.setHeader('ptc-ignored', request.ignored.join(', '))
  if (codeCallerType === undefined) return answerPlain(exchange, request)
  return answerContainer(exchange, { ...request, codeCallerType })
}

/** Approximate tokens of a large image; a document costs more. */
const mediaTokens = 1_600

/** Estimates tokens from the characters: the server has no tokenizer and asks no provider. */
async function countTokens(exchange: Exchange): Promise<Reply> {
  const body = await readBody(exchange, z.unknown(), maxBodyBytes)
  const { messages, options } = parseRequest(isJsonObject(body) ? { max_tokens: 1, ...body } : body)
  const { clientTools = [], instructions = '', outputSchema = null } = options
  const blocks = messages.flatMap(({ content }) => content)
  const others = blocks.filter((block) => !isMedia(block))
  const texts = JSON.stringify([others, clientTools, instructions, outputSchema])
  const media = blocks.length - others.length
  return { body: { input_tokens: estimateTokens(texts.length) + media * mediaTokens } }
}

/** `GET /v1/models`: the models of the configuration, as a page of the API. */
async function listModels({ models }: Exchange): Promise<Reply> {
  const [first = null] = models
  return { body: { data: models.map(toModel), has_more: false, first_id: first, last_id: models.at(-1) ?? null } }
}

/** @throws PtcError MODEL_NOT_FOUND */
async function findModel({ models, params: { id = '' } }: Exchange): Promise<Reply> {
  if (models.includes(id)) return { body: toModel(id) }
  throw new PtcError('MODEL_NOT_FOUND', 'the configuration names no such model')
}

/** The API uses this date for a model with an unknown release date. */
function toModel(id: string): JsonObject {
  return { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }
}

export const messagesApiRoutes: readonly Route[] = [
  { method: 'POST', path: '/v1/messages', handler: createMessage },
  { method: 'POST', path: '/v1/messages/count_tokens', handler: countTokens },
  { method: 'GET', path: '/v1/models', handler: listModels },
  { method: 'GET', path: '/v1/models/:id', handler: findModel },
]
