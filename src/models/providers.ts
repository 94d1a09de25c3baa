import { PtcError } from '../common/errors.js'
import type { ModelProvider, ModelRequest } from './provider.js'

/** The model providers of a worker, by name. */
export class ModelProviders {
  readonly #byName: ReadonlyMap<string, ModelProvider>

  constructor(providers: Readonly<Record<string, ModelProvider>>) {
    this.#byName = new Map(Object.entries(providers))
  }

  /**
   * The provider of a run, which may have begun with another configuration.
   *
   * @throws PtcError MODEL_PROVIDER_MISSING
   */
  require(name: string): ModelProvider {
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
  requireFor(name: string, { hostedCode }: ModelRequest): ModelProvider {
    const provider = this.require(name)
    if (hostedCode === undefined || provider.hostsCode) return provider
    throw new PtcError('MODEL_BAD_REQUEST', `model provider ${JSON.stringify(name)} executes no code`, {
      hint: 'Choose another sandbox than `anthropic`, or a provider of kind `anthropic`.',
    })
  }

  /** Prepares a provider for its first call, if there is one of this name. */
  async load(name: string): Promise<void> {
    await this.#byName.get(name)?.load?.()
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map((provider) => provider.close()))
  }
}
