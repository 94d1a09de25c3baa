import { rejectOnUncaught } from '../common/async/uncaught-errors.js'
import { messageOf, PtcError } from '../common/errors.js'
import type { ModelReply } from '../common/agent/messages.js'
import { truncateEnd } from '../common/text/text.js'
import { acceptReply } from './reply/accept-reply.js'
import { configuredCost, type ModelFacts } from './facts/model-facts.js'
import type { ModelProvider, ModelRequest, TurnOptions } from './provider.js'
import { toSendableRequest } from './request/sendable-request.js'

/** The model providers of a worker, by name. All requests to models and all replies pass here. */
export class ModelProviders {
  readonly #byName: ReadonlyMap<string, ModelProvider>
  readonly #facts: ModelFacts

  /** @param facts about models, from the configuration */
  constructor(providers: Readonly<Record<string, ModelProvider>>, facts: ModelFacts = {}) {
    this.#byName = new Map(Object.entries(providers))
    this.#facts = facts
  }

  /**
   * Requests one reply.
   *
   * @throws PtcError MODEL_PROVIDER_MISSING; the errors of the provider; the signal's reason when it was aborted
   */
  async turn(name: string, request: ModelRequest, options: TurnOptions): Promise<ModelReply> {
    const provider = this.#requireFor(name, request)
    const given = await runProvider(name, () => provider.turn(toSendableRequest(request), options))
    const reply = acceptReply(given, request)
    const cost = configuredCost(this.#facts, { provider: name, name: request.model }, reply.usage)
    return cost === undefined ? reply : { ...reply, costUsd: cost }
  }

  /**
   * Counts the input tokens of a request; undefined when the provider does not count.
   *
   * @throws the errors of {@link turn}
   */
  async countTokens(
    name: string,
    request: ModelRequest,
    options: Pick<TurnOptions, 'signal'>,
  ): Promise<number | undefined> {
    const provider = this.#require(name)
    return runProvider(name, () => provider.countTokens?.(toSendableRequest(request), options))
  }

  /**
   * The provider of a run, which may have begun with another configuration.
   *
   * @throws PtcError MODEL_PROVIDER_MISSING
   */
  #require(name: string): ModelProvider {
    const provider = this.#byName.get(name)
    if (provider !== undefined) return provider
    throw new PtcError('MODEL_PROVIDER_MISSING', `this worker has no model provider ${JSON.stringify(name)}`, {
      hint: 'Add it to `providers` in the configuration of the workers with role model.',
    })
  }

  /**
   * The provider of a run, for this request.
   *
   * @throws PtcError MODEL_PROVIDER_MISSING; MODEL_BAD_REQUEST when the API of the provider executes no code
   */
  #requireFor(name: string, { hostedCode }: ModelRequest): ModelProvider {
    const provider = this.#require(name)
    if (hostedCode === undefined || provider.hostsCode) return provider
    throw new PtcError('MODEL_BAD_REQUEST', `model provider ${JSON.stringify(name)} executes no code`, {
      hint: 'Choose another sandbox than `anthropic`, or a provider of kind `anthropic`.',
    })
  }

  /** Prepares the provider with this name for its first call, if it exists. */
  async load(name: string): Promise<void> {
    await this.#byName.get(name)?.load?.()
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map((provider) => provider.close()))
  }
}

const maxMessageCharacters = 2_000

/**
 * Calls a provider, which may be that of a user. An error that nothing catches fails the call. After its end, such an
 * error leaves the engine in a known state: it is logged.
 */
function runProvider<Result>(name: string, call: () => Result | Promise<Result>): Promise<Result> {
  // Calls share the connections of a provider.
  return rejectOnUncaught({ name: `model provider ${name}`, isShared: true }, call, (thrown) => {
    const message = truncateEnd(messageOf(thrown), maxMessageCharacters)
    return new PtcError('UNCAUGHT_ERROR', `an error that nothing caught, in model provider ${name}: ${message}`)
  })
}
