import type { Conversation, ConversationAnswer, RunTree } from '../../client/index.js'
import { PtcError } from '../../common/errors.js'
import { closeAfter, whenAccepted } from '../conversations.js'
import type { Exchange, Reply } from '../router.js'
import { type ChosenMessage, chooseMessage } from './choose-message.js'
import { checkContainer, containerMs, newContainerId } from './container.js'
import { BadRequest } from './errors.js'
import { type FollowedMessage, followMessage } from './follow-message.js'
import { digestMessages, newMessageOf, resultsOf, type SentResults } from './messages.js'
import type { MessagesRequest } from './request.js'
import { respond } from './respond.js'
import { knownCalls } from './transcript.js'

/** A request with code. */
export interface ContainerRequest extends MessagesRequest {
  readonly codeCallerType: string
}

/** A message that the conversation has accepted, or whose calls have their results. */
interface Accepted {
  readonly conversation: Conversation
  readonly message: FollowedMessage
  readonly answer: (signal: AbortSignal) => Promise<ConversationAnswer>
}

/** Answers a request from the conversation of its container, or from a new one. */
export async function answerContainer(exchange: Exchange, request: ContainerRequest): Promise<Reply | undefined> {
  const { ptc, signal } = exchange
  const { container, messages, options } = request
  if (container === undefined) {
    const started = ptc.conversation(newContainerId(request), { ...options, closeAfterMs: containerMs })
    const sending = sendMessage(started, await chooseMessage(started, request))
    try {
      return await respondAfter(exchange, request, await whenAccepted(signal, sending))
    } catch (thrown) {
      // Invariant 5: the client does not know the container.
      exchange.waitUntil(closeAfter(started, sending))
      throw thrown
    }
  }
  checkContainer(container, request)
  const conversation = ptc.conversation(container, { mustExist: true })
  const sent = resultsOf(messages)
  const tree = await readTree(ptc.handle(conversation.workflowId).tree({ full: true }))
  if (sent) return respondAfter(exchange, request, await sendResults(exchange, conversation, tree, messages, sent))
  const chosen = await chooseMessage(conversation, request, tree)
  const accepted = chosen.isKnown
    ? accept(conversation, chosen.id)
    : await whenAccepted(signal, sendMessage(conversation, chosen))
  return respondAfter(exchange, request, accepted)
}

function respondAfter(
  exchange: Exchange,
  request: ContainerRequest,
  { conversation: { name, workflowId }, message, answer }: Accepted,
): Promise<Reply | undefined> {
  const following = { handle: exchange.ptc.handle(workflowId), message, answer }
  return respond(exchange, { name, request, message }, () => followMessage(following, exchange.signal))
}

async function sendMessage(conversation: Conversation, { text, ...options }: ChosenMessage): Promise<Accepted> {
  const sent = await conversation.send(text, options)
  return { conversation, message: { id: sent.id, after: new Set(), isSent: true }, answer: () => sent.answer() }
}

/** A message that the conversation has accepted before this request. */
function accept(conversation: Conversation, id: string, after: ReadonlySet<string> = new Set()): Accepted {
  return {
    conversation,
    message: { id, after, isSent: false },
    answer: (signal) => conversation.answer(id, { signal }),
  }
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
  tree: RunTree,
  messages: MessagesRequest['messages'],
  { results, others }: SentResults,
): Promise<Accepted> {
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
  if (waiting.length > 0 && others.length > 0) {
    if (waiting.some(({ call }) => call.caller !== 'direct'))
      throw new BadRequest(
        'messages: while code waits for results, a message has `tool_result` blocks and nothing else',
      )
    await whenAccepted(signal, sendWithResults(conversation, messages, others))
  }
  const sending = found.map(async ({ call, result: { text, isError } }) => {
    const token = call.deferred?.completionToken
    if (token === undefined) return checkRepeated(call, text, isError)
    await (isError ? ptc.failCall(token, text) : ptc.completeCall(token, text)).catch(ignoreLate)
  })
  await Promise.all(sending)
  return accept(conversation, first.message, after)
}

/**
 * Sends texts of the user that come with results, such as a reminder. A repeated request sends them under the same id.
 *
 * @throws BadRequest
 */
async function sendWithResults(
  conversation: Conversation,
  messages: MessagesRequest['messages'],
  others: SentResults['others'],
): Promise<void> {
  const message = newMessageOf([{ role: 'user', content: others }])
  if (!message) throw new BadRequest('messages: images and PDFs that come with results must be base64, before texts')
  const { text, attachments } = message
  await conversation.send(text, { id: digestMessages(messages), steer: true, attachments })
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
