/*
 * Calls of tools of a server that may ask people, or the model of the run.
 *
 * Owns: which call a request of a server belongs to, and the rounds of a call in protocol 2026-07-28.
 *
 * Invariants:
 * 1. In protocols before 2026, a request of a server does not name its call. So such a server has one call at a time,
 *    and a connection whose call ended without the server's answer is closed: a late question would be shown to the
 *    people of another run, and that run would pay for a late request for a reply. A closed connection may live on for
 *    other requests, and then its questions are cancelled.
 * 2. A question outside of a call is cancelled, also one during another request, such as the reading of a resource. A
 *    request for a reply is refused then.
 */
import type { CallToolResult, Client, ClientCapabilities } from '@modelcontextprotocol/client'
import type { InputRequiredResult, InputResponse } from '@modelcontextprotocol/client'
import { raceWithSignal, withAbortListener } from '../../../../common/async/abort.js'
import type { Sample } from '../../../../common/calls/sampling.js'
import { defined } from '../../../../common/defined.js'
import { ConcurrencyLimit } from '../../../../common/async/concurrency-limit.js'
import type { CallAnswers, ToolQuestion } from '../../../../common/calls/questions.js'
import { messageOf } from '../../../../common/errors.js'
import { isJsonObject, type JsonValue } from '../../../../common/json/json.js'
import { utf8Length } from '../../../../common/text/text.js'
import { ToolError } from '../../../tool-error.js'
import { CallInteraction, inputRequired, toResult } from './call-interaction.js'
import { readElicitation } from './elicitation.js'

/** Milliseconds that a server has for the end of a call after its question was cancelled. */
const settleMs = 5_000

/** Requests of one attempt that a server answers only with state, one after another. */
const maxRounds = 10

/** UTF-8 bytes of the state of a server. The history has it. */
const maxStateBytes = 16 * 1024

/** Gets the client before it sends: another one than was given, when its server did not know the session. */
type OnClient = (client: Client) => void

/** Sends the request of a call, with additional parameters. */
export type SendCall = (
  client: Client,
  parameters: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  onClient: OnClient,
) => Promise<CallToolResult | InputRequiredResult>

/** Sends a request that is no call of a tool. */
export type SendRequest<Result> = (client: Client, onClient: OnClient) => Promise<Result>

/** How a call gets a connection. */
export interface ConnectionAccess {
  readonly signal: AbortSignal
  readonly connect: (signal: AbortSignal) => Promise<Client>
  /** Ends the connection of the client. */
  readonly close: (client: Client) => Promise<void>
}

/** What the configuration allows a server. */
interface Allowed {
  readonly elicitation: boolean
  readonly sampling: boolean
}

interface InteractiveCall extends ConnectionAccess {
  readonly answers: CallAnswers
  readonly sample: Sample | undefined
  readonly send: SendCall
}

export class InteractiveConnection {
  readonly #from: string
  readonly #calls = new ConcurrencyLimit(1)
  #current: { client: Client; readonly interaction: CallInteraction } | undefined

  readonly #allowed: Allowed

  /** @param from names the server */
  constructor(from: string, allowed: Allowed) {
    this.#from = from
    this.#allowed = allowed
  }

  /** What the client declares. */
  get capabilities(): ClientCapabilities {
    const { elicitation, sampling } = this.#allowed
    return { ...(elicitation && { elicitation: { form: {}, url: {} } }), ...(sampling && { sampling: {} }) }
  }

  /** Answers the requests of a client's server. Called before the client connects. */
  handle(client: Client): void {
    const { elicitation, sampling } = this.#allowed
    // Invariant 1.
    const current = () => (this.#current?.client === client ? this.#current.interaction : undefined)
    if (elicitation)
      client.setRequestHandler('elicitation/create', ({ params }) => {
        return current()?.elicit(params) ?? { action: 'cancel' } // invariant 2
      })
    if (sampling)
      client.setRequestHandler(samplingMethod, ({ params }) => {
        const interaction = current()
        if (!interaction) throw new Error('only a call of a tool gets a reply of a model') // invariant 2
        return interaction.sample(params)
      })
  }

  /**
   * Makes one attempt of a call.
   *
   * @throws InputRequiredError when people must answer; ToolError; what `send` throws; the reason of the signal
   */
  async call(call: InteractiveCall): Promise<CallToolResult> {
    const { signal, connect } = call
    const client = await connect(signal)
    if (client.getProtocolEra() === 'modern') return this.#callInRounds(client, call)
    return raceWithSignal(
      signal,
      this.#calls.run(() => this.#callAlone(call)), // invariant 1
    )
  }

  /** Makes a request that is no call of a tool. */
  async request<Result>(access: ConnectionAccess, send: SendRequest<Result>): Promise<Result> {
    const { signal, connect, close } = access
    const connected = await connect(signal)
    if (connected.getProtocolEra() === 'modern') return send(connected, () => undefined)
    const sendAlone = async (): Promise<Result> => {
      let client = await connect(signal)
      try {
        return await send(client, (used) => (client = used))
      } finally {
        if (signal.aborted) await close(client) // invariant 1
      }
    }
    return raceWithSignal(signal, this.#calls.run(sendAlone)) // invariant 1
  }

  async #callAlone({ answers, sample, signal, connect, send, close }: InteractiveCall): Promise<CallToolResult> {
    // The call before this one may have closed its connection.
    const client = await connect(signal)
    const controller = new AbortController()
    const interaction = new CallInteraction(this.#from, { answers, sample, signal: controller.signal })
    const current = { client, interaction }
    this.#current = current
    let isOpen = true
    try {
      return await withAbortListener(
        signal,
        () => controller.abort(signal.reason),
        async () => {
          const ended = send(client, {}, controller.signal, (used) => (current.client = used)).finally(
            () => (isOpen = controller.signal.aborted),
          )
          const result = await Promise.race([ended, interaction.hasAsked])
          if (result === undefined) await settled(ended, signal)
          interaction.throwIfAsked()
          return asComplete(result)
        },
      )
    } catch (thrown) {
      // The error may be that of the cancelled question.
      interaction.throwIfAsked()
      throw this.#questionsOf(thrown, answers) ?? thrown
    } finally {
      this.#current = undefined
      controller.abort()
      if (isOpen) await close(current.client) // invariant 1
    }
  }

  /** An error by which a server asks to open an address, before it executes the call. */
  #questionsOf(thrown: unknown, { answered }: CallAnswers): Error | undefined {
    if (
      !this.#allowed.elicitation ||
      !(thrown instanceof Error) ||
      !('elicitations' in thrown) ||
      !Array.isArray(thrown.elicitations)
    )
      return
    const read = thrown.elicitations.slice(0, maxQuestionsAtOnce).map((params) => readElicitation(this.#from, params))
    const questions = read.flatMap(({ question }) => question ?? [])
    return questions.length === 0 ? undefined : inputRequired(this.#from, questions, answered)
  }

  async #callInRounds(client: Client, { answers, sample, signal, send }: InteractiveCall): Promise<CallToolResult> {
    const interaction = new CallInteraction(this.#from, { answers, sample, signal })
    let parameters = roundParameters(answers)
    for (let round = 0; round < maxRounds;) {
      const result = await send(client, parameters, signal, () => undefined).catch((thrown: unknown) => {
        throw this.#questionsOf(thrown, answers) ?? thrown
      })
      if (!isInputRequired(result)) return result
      const { requestState } = result
      const inputRequests = (result.inputRequests ?? {}) as RoundRequests
      if (requestState !== undefined && utf8Length(requestState) > maxStateBytes)
        throw new ToolError(`${this.#from} sent a state of more than ${maxStateBytes} bytes`)
      const questions = this.#questionsOfRound(inputRequests)
      if (questions.length > 0) {
        const state: JsonValue = { from: answers.answered.length, ...(requestState !== undefined && { requestState }) }
        throw inputRequired(this.#from, questions, answers.answered, state)
      }
      const replies = await this.#sampleRound(interaction, inputRequests)
      if (replies === undefined) round += 1
      parameters = { ...defined({ requestState }), ...(replies && { inputResponses: replies }) }
    }
    throw new ToolError(`${this.#from} answered ${maxRounds} times without a result`)
  }

  #questionsOfRound(requests: RoundRequests): readonly ToolQuestion[] {
    const entries = Object.entries(requests)
    if (entries.length > maxQuestionsAtOnce) throw new ToolError(`${this.#from} asks too many questions at once`)
    const asked = entries.filter(([, { method }]) => method !== samplingMethod || !this.#allowed.sampling)
    if (asked.length > 0 && asked.length < entries.length)
      throw new ToolError(`${this.#from} asks people and the model at once: it is refused`)
    return asked.map(([key, { method, params }]) => {
      if (method !== 'elicitation/create' || !this.#allowed.elicitation)
        throw new ToolError(`${this.#from} needs ${String(method)}: it is refused`)
      const { question, ...refused } = readElicitation(this.#from, params, key)
      if (question) return question
      throw new ToolError(`${this.#from}: ${'problem' in refused ? refused.problem : 'its question is refused'}`)
    })
  }

  /**
   * Gets the replies that a server needs for its next round: each of them is a request of the run's limit. Returns
   * undefined when it needs none.
   *
   * @throws ToolError when there is none: a round has no place for an error
   */
  async #sampleRound(
    interaction: CallInteraction,
    requests: RoundRequests,
  ): Promise<Readonly<Record<string, InputResponse>> | undefined> {
    const entries = Object.entries(requests)
    if (entries.length === 0) return undefined
    const replies: [string, InputResponse][] = []
    for (const [key, { params }] of entries) {
      const reply = await interaction.sample(params).catch((thrown: unknown) => {
        throw new ToolError(`${this.#from}: ${messageOf(thrown)}`, { cause: thrown })
      })
      replies.push([key, reply])
    }
    return Object.fromEntries(replies)
  }
}

const maxQuestionsAtOnce = 20

const samplingMethod = 'sampling/createMessage'

/** Requests of a server in one round, by its names for them. */
type RoundRequests = Readonly<Record<string, { readonly method?: unknown; readonly params?: unknown }>>

/** The answers for the round that the last attempt was in. */
function roundParameters({ answered, state }: CallAnswers): Readonly<Record<string, unknown>> {
  if (!isJsonObject(state)) return {}
  const { from, requestState } = state
  const responses: Record<string, InputResponse> = {}
  for (const { key, answer } of answered.slice(Number(from))) if (key !== undefined) responses[key] = toResult(answer)
  return { inputResponses: responses, ...(typeof requestState === 'string' && { requestState }) }
}

/** Waits until the call has ended, for a short time. Its outcome is that of a cancelled question. */
async function settled(outcome: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const ended = outcome.then(
    () => undefined,
    () => undefined,
  )
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, settleMs)
  })
  await raceWithSignal(signal, Promise.race([ended, limit])).finally(() => clearTimeout(timer))
}

function isInputRequired(result: CallToolResult | InputRequiredResult): result is InputRequiredResult {
  return 'resultType' in result && result.resultType === 'input_required'
}

/** @throws Error for a result that is not complete */
export function asComplete(result: CallToolResult | InputRequiredResult | void): CallToolResult {
  if (result !== undefined && !isInputRequired(result)) return result
  throw new Error('the server sent no result')
}
