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
import { type Exchange, readJson, type Reply, type Route } from '../router.js'
import { answerContainer } from './answer-container.js'
import { answerPlain } from './answer-plain.js'
import { countTokens } from './count-tokens.js'
import { findModel, listModels } from './models.js'
import { parseRequest } from './request.js'

/** The limit of the API. */
const maxBodyBytes = 32 * 1024 * 1024

async function createMessage(exchange: Exchange): Promise<Reply | undefined> {
  const { codeCallerType, ...request } = parseRequest(await readJson(exchange, z.unknown(), maxBodyBytes))
  if (request.ignored.length > 0) exchange.response.setHeader('ptc-ignored', request.ignored.join(', '))
  if (codeCallerType === undefined) return answerPlain(exchange, request)
  return answerContainer(exchange, { ...request, codeCallerType })
}

async function countMessageTokens(exchange: Exchange): Promise<Reply> {
  return { body: countTokens(await readJson(exchange, z.unknown(), maxBodyBytes)) }
}

export const messagesApiRoutes: readonly Route[] = [
  { method: 'POST', path: '/v1/messages', handler: createMessage },
  { method: 'POST', path: '/v1/messages/count_tokens', handler: countMessageTokens },
  { method: 'GET', path: '/v1/models', handler: ({ models }) => Promise.resolve({ body: listModels(models) }) },
  {
    method: 'GET',
    path: '/v1/models/:id',
    handler: async ({ models, params: { id = '' } }) => ({ body: findModel(models, id) }),
  },
]
