/*
 * `src/serve/messages-api` owns `POST /v1/messages`: the Messages API with programmatic tool calling, whose code runs
 * in our sandboxes. A container of the API is a conversation with client tools.
 *
 * Boundary: requests and responses of that API on one side, the client library on the other. It keeps no state.
 *
 * Invariants:
 * 1. A repeated request is no other message and makes no call twice. It gets the response that the first one got.
 * 2. Nobody without the id of a container learns of its calls, or completes them.
 * 3. What a request asks for is done, or is refused with an error that names it.
 * 4. Each response is an error, or a pause: the conversation has answered, or waits for results of calls.
 */

import { z } from 'zod'
import type { Conversation, ConversationAnswer, RunTree } from '../../client/index.js'
import { PtcError } from '../../common/errors.js'
import { whenAccepted } from '../conversations.js'
import { type Exchange, readJson, type Reply, type Route } from '../router.js'
import { checkContainer, containerMs, newContainerId } from './container.js'
import { BadRequest } from './errors.js'
import { type FollowedMessage, followMessage } from './follow-message.js'
import { type ClientResult, newMessageOf, resultsOf } from './messages.js'
import { chooseMessage } from './choose-message.js'
import { type MessagesRequest, parseRequest } from './request.js'
import { respond, respondWithEvents } from './respond.js'
import { knownCalls } from './transcript.js'

/** As the API. */
const maxBodyBytes = 32 * 1024 * 1024

/** A message that the conversation has accepted, or whose calls have their results. */
interface Accepted {
  readonly message: FollowedMessage
  readonly answer: (signal: AbortSignal) => Promise<ConversationAnswer>
}

async function createMessage(exchange: Exchange): Promise<Reply | undefined> {
  const { ptc } = exchange
  const request = parseRequest(await readJson(exchange, z.unknown(), maxBodyBytes))
  const results = resultsOf(request.messages)
  if (request.container !== undefined) checkContainer(request.container, request)
  else if (results) throw new BadRequest('container: results of calls need the id of their container')
  const container = request.container ?? newContainerId(request)
  const isNew = request.container === undefined
  const options = isNew ? { ...request.options, closeAfterMs: containerMs } : { mustExist: true }
  const conversation = ptc.conversation(container, options)
  const exchanged = { exchange, request, container, conversation, results }
  if (!isNew) return answerRequest(exchanged)
  try {
    return await answerRequest(exchanged)
  } catch (thrown) {
    // The client does not know the container, so nobody will ever use it.
    void conversation.close().catch(() => undefined)
    throw thrown
  }
}

interface Exchanged {
  readonly exchange: Exchange
  readonly request: MessagesRequest
  readonly container: string
  readonly conversation: Conversation
  readonly results: readonly ClientResult[] | undefined
}

async function answerRequest(exchanged: Exchanged): Promise<Reply | undefined> {
  const { exchange, request, container, conversation, results } = exchanged
  const { ptc, signal } = exchange
  const handle = ptc.handle(conversation.workflowId)
  const { message, answer } = results
    ? await sendResults(exchange, conversation, results)
    : await sendMessage(exchange, conversation, request)
  const { model, codeCallerType } = request
  const responding = { container, model, message, codeCallerType }
  const pause = () => followMessage({ handle, message, answer }, signal)
  return request.isStream ? respondWithEvents(exchange, responding, pause) : respond(responding, pause)
}

async function sendMessage(
  { ptc, signal }: Exchange,
  conversation: Conversation,
  request: MessagesRequest,
): Promise<Accepted> {
  const { text, attachments } = newMessageOf(request.messages)
  const tree =
    request.container === undefined
      ? undefined
      : await readTree(ptc.handle(conversation.workflowId).tree({ full: true }))
  const { id, messages, isKnown = false } = await chooseMessage(conversation, request, tree)
  const message = { id, after: new Set<string>(), isSent: !isKnown }
  if (isKnown) return { message, answer: (awaited) => conversation.answer(id, { signal: awaited }) }
  const more = { ...(attachments.length > 0 && { attachments }), ...(messages && { messages }) }
  const sent = await whenAccepted(signal, conversation.send(text, { id, ...more }))
  return { message, answer: () => sent.answer() }
}

/** A server that no longer has the workflow has no container. */
async function readTree(reading: Promise<RunTree>): Promise<RunTree> {
  try {
    return await reading
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'TEMPORAL_NOT_FOUND') throw notFound()
    throw thrown
  }
}

function notFound(): PtcError {
  return new PtcError('CONVERSATION_NOT_FOUND', 'there is no container with this id')
}

/** @throws BadRequest for results of other calls than those that wait */
async function sendResults(
  { ptc }: Exchange,
  conversation: Conversation,
  results: readonly ClientResult[],
): Promise<Accepted> {
  const tree = await readTree(ptc.handle(conversation.workflowId).tree({ full: true }))
  if (tree.status !== 'running') throw notFound()
  const calls = knownCalls(tree)
  const found = results.map((result) => {
    const known = calls.find(({ id }) => id === result.id)
    if (!known) throw new BadRequest(`messages: the container has made no call ${result.id}`)
    return { ...known, result }
  })
  const [first] = found
  const after = new Set(found.map(({ id }) => id))
  if (!first || after.size < found.length) throw new BadRequest('messages: a call has two results')
  // When some have their results, this request is repeated: other calls may have been made since.
  const isFirst = found.every(({ call }) => call.deferred !== undefined)
  const missing = calls.find(({ id, call }) => call.deferred !== undefined && !after.has(id))
  if (isFirst && missing) throw new BadRequest(`messages: the call ${missing.id} waits, and has no tool_result`)
  const sending = found.map(async ({ call, result: { text, isError } }) => {
    const token = call.deferred?.completionToken
    if (token === undefined) return checkRepeated(call, text, isError)
    await (isError ? ptc.failCall(token, text) : ptc.completeCall(token, text)).catch(ignoreLate)
  })
  await Promise.all(sending)
  const { message: id } = first
  return { message: { id, after, isSent: false }, answer: (signal) => conversation.answer(id, { signal }) }
}

/** The code no longer waits: it has ended, was stopped, or got an error when the call expired. */
function ignoreLate(thrown: unknown): void {
  const code = PtcError.isInstance(thrown) ? thrown.code : undefined
  if (code !== 'CALL_NOT_FOUND' && code !== 'CALL_EXPIRED') throw thrown
}

/** @throws PtcError CALL_COMPLETED when the call had another result */
function checkRepeated(
  { status, resultBytes, message }: RunTree['turns'][number]['directCalls'][number],
  text: string,
  isError: boolean,
): void {
  const isSame = isError ? message === text : resultBytes === Buffer.byteLength(JSON.stringify(text))
  if (status !== 'ok' && status !== 'tool_error') return
  if (isSame && isError === (status === 'tool_error')) return
  throw new PtcError('CALL_COMPLETED', 'a call already has another result')
}

export const messagesApiRoutes: readonly Route[] = [{ method: 'POST', path: '/v1/messages', handler: createMessage }]
