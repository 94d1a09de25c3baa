import type { Conversation, ConversationAnswer, RunTree } from '../../client/index.js'
import { PtcError } from '../../common/errors.js'
import { closeAfter, whenAccepted } from '../conversations.js'
import type { Exchange, Reply } from '../router.js'
import type { ClientResult } from './blocks.js'
import { chooseMessage } from './choose-message.js'
import { checkContainer, containerMs, newContainerId } from './container.js'
import { BadRequest } from './errors.js'
import { type FollowedMessage, followMessage } from './follow-message.js'
import { digestMessages, newMessageOf, resultsOf } from './messages.js'
import type { MessagesRequest } from './request.js'
import { respond, respondWithEvents } from './respond.js'
import { knownCalls } from './transcript.js'

/** A request with code. */
export interface ContainerRequest extends MessagesRequest {
  readonly codeCallerType: string
}

/** A message that the conversation has accepted, or whose calls have their results. */
interface Accepted {
  readonly message: FollowedMessage
  readonly answer: (signal: AbortSignal) => Promise<ConversationAnswer>
}

/** Answers a request from the conversation of its container, or from a new one. */
export async function answerContainer(exchange: Exchange, request: ContainerRequest): Promise<Reply | undefined> {
  const { ptc } = exchange
  if (request.container !== undefined) {
    checkContainer(request.container, request)
    const conversation = ptc.conversation(request.container, { mustExist: true })
    const sent = resultsOf(request.messages)
    const accepted = sent
      ? await sendResults(exchange, conversation, request, sent.results)
      : await sendMessage(exchange, conversation, request, noSending)
    return respondAfter(exchange, conversation, request, accepted)
  }
  const conversation = ptc.conversation(newContainerId(request), { ...request.options, closeAfterMs: containerMs })
  let sending: Promise<unknown> = Promise.resolve()
  try {
    const accepted = await sendMessage(exchange, conversation, request, (begun) => {
      sending = begun
    })
    return await respondAfter(exchange, conversation, request, accepted)
  } catch (thrown) {
    // Invariant 5: the client does not know the container.
    exchange.waitUntil(closeAfter(conversation, sending))
    throw thrown
  }
}

function respondAfter(
  exchange: Exchange,
  conversation: Conversation,
  { model, codeCallerType, isStream, options: { outputSchema } }: ContainerRequest,
  { message, answer }: Accepted,
): Promise<Reply | undefined> {
  const { ptc, signal } = exchange
  const handle = ptc.handle(conversation.workflowId)
  const responding = { name: conversation.name, model, message, codeCallerType, hasFormat: outputSchema !== undefined }
  const pause = () => followMessage({ handle, message, answer }, signal)
  return isStream ? respondWithEvents(exchange, responding, pause) : respond(responding, pause)
}

const noSending = (): void => undefined

/** @param onSending gets the request that starts the conversation */
async function sendMessage(
  { ptc, signal }: Exchange,
  conversation: Conversation,
  request: ContainerRequest,
  onSending: (sending: Promise<unknown>) => void,
): Promise<Accepted> {
  const tree =
    request.container === undefined
      ? undefined
      : await readTree(ptc.handle(conversation.workflowId).tree({ full: true }))
  const { id, text, attachments = [], messages, isKnown = false } = await chooseMessage(conversation, request, tree)
  const message = { id, after: new Set<string>(), isSent: !isKnown }
  if (isKnown) return { message, answer: (awaited) => conversation.answer(id, { signal: awaited }) }
  const more = { ...(attachments.length > 0 && { attachments }), ...(messages && { messages }) }
  const sending = conversation.send(text, { id, ...more })
  onSending(sending)
  const sent = await whenAccepted(signal, sending)
  return { message, answer: () => sent.answer() }
}

/** The tree of a conversation. When the server no longer has the workflow, the container does not exist. */
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

/** @throws BadRequest when the results are not for the waiting calls */
async function sendResults(
  { ptc, signal }: Exchange,
  conversation: Conversation,
  { messages }: ContainerRequest,
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
  // When some calls already have results, this request is repeated: the code may have made other calls since.
  const isFirst = found.every(({ call }) => call.deferred !== undefined)
  const missing = calls.find(({ id, call }) => call.deferred !== undefined && !after.has(id))
  if (isFirst && missing) throw new BadRequest(`messages: the call ${missing.id} waits, and has no tool_result`)
  const waiting = found.filter(({ call }) => call.deferred !== undefined)
  // The message must arrive before the results: the model reads both with its next turn.
  if (waiting.length > 0) await whenAccepted(signal, sendWithResults(conversation, messages, waiting))
  const sending = found.map(async ({ call, result: { text, isError } }) => {
    const token = call.deferred?.completionToken
    if (token === undefined) return checkRepeated(call, text, isError)
    await (isError ? ptc.failCall(token, text) : ptc.completeCall(token, text)).catch(ignoreLate)
  })
  await Promise.all(sending)
  const { message: id } = first
  return { message: { id, after, isSent: false }, answer: (awaited) => conversation.answer(id, { signal: awaited }) }
}

/**
 * Sends texts of the user that come with results, such as a reminder. A repeated request sends them under the same id.
 *
 * @throws BadRequest when code waits for the results, as the API does
 */
async function sendWithResults(
  conversation: Conversation,
  messages: MessagesRequest['messages'],
  waiting: readonly { readonly call: { readonly caller: string } }[],
): Promise<void> {
  const others = resultsOf(messages)?.others ?? []
  if (others.length === 0) return
  if (waiting.some(({ call }) => call.caller !== 'direct'))
    throw new BadRequest('messages: while code waits for results, a message has `tool_result` blocks and nothing else')
  const message = newMessageOf([{ role: 'user', content: others }])
  if (!message) throw new BadRequest('messages: images and PDFs that come with results must be base64, before texts')
  const { text, attachments } = message
  await conversation.send(text, {
    id: digestMessages(messages),
    steer: true,
    ...(attachments.length > 0 && { attachments }),
  })
}

/** Ignores results that come too late: the code has ended, was stopped, or got an error when the call expired. */
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
