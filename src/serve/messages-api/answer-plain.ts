import { randomBytes, randomUUID } from 'node:crypto'
import { raceWithSignal } from '../../common/async/abort.js'
import { closeAfter, whenAccepted } from '../conversations.js'
import type { Exchange, Reply } from '../router.js'
import { BadRequest } from './errors.js'
import { toProviderMessages } from './conversion.js'
import { newMessageOf, resultsOf } from './messages.js'
import type { MessagesRequest } from './request.js'
import { respond } from './respond.js'

/** Milliseconds after which the conversation of a plain request closes itself, when no server closes it. */
const closeAfterMs = 60_000

/**
 * Answers a request without code: a conversation starts with the messages of the request and ends with the first reply.
 * The client sends the results of calls together with all messages in the next request.
 */
export async function answerPlain(exchange: Exchange, request: MessagesRequest): Promise<Reply | undefined> {
  const { ptc, signal } = exchange
  if (request.container !== undefined) throw new BadRequest('container: only a request with code_execution has one')
  // The last message is checked before the conversation starts.
  if (!resultsOf(request.messages)) newMessageOf(request.messages)
  const messages = toProviderMessages(request.messages)
  const name = `request_${randomBytes(16).toString('hex')}`
  const id = randomUUID()
  const conversation = ptc.conversation(name, { ...request.options, closeAfterMs })
  const sending = conversation.send('', { id, messages })
  try {
    const sent = await whenAccepted(signal, sending)
    const message = { id, after: new Set<string>(), isSent: true }
    const pause = async () => {
      const answer = await raceWithSignal(signal, sent.answer())
      return { tree: await ptc.handle(conversation.workflowId).tree({ full: true }), answer }
    }
    return await respond(exchange, { name, request, message }, pause)
  } finally {
    exchange.waitUntil(closeAfter(conversation, sending))
  }
}
