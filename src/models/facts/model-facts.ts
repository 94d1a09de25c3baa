import type { Usage } from '../../common/agent/messages.js'
import type { ModelId } from '../../common/run/run-config.js'
import { findModel } from './find-model.js'
import { defaultProvider } from './model-name.js'
import { type ModelPrice, priceOf } from './prices.js'

/** Facts about one model from a configuration. */
export interface ModelFact {
  /** Tokens of the context window. */
  readonly contextWindow?: number | undefined
  readonly price?: ModelPrice | undefined
}

/**
 * Facts about models from a configuration, by `PROVIDER/MODEL`; a name without a provider is a model of the default
 * provider.
 */
export type ModelFacts = Readonly<Record<string, ModelFact>>

type NamedModel = Pick<ModelId, 'provider' | 'name'>

/** The configured context window of a model; undefined without one. */
export function configuredWindow(facts: ModelFacts, model: NamedModel): number | undefined {
  return factOf(facts, model)?.contextWindow
}

/** US dollars of one model call by the configured price of the model; undefined without one. */
export function configuredCost(facts: ModelFacts, model: NamedModel, usage: Usage): number | undefined {
  const price = factOf(facts, model)?.price
  return price && priceOf(price, usage)
}

function factOf(facts: ModelFacts, { provider, name }: NamedModel): ModelFact | undefined {
  return findModel(facts, `${provider}/${name}`) ?? (provider === defaultProvider ? findModel(facts, name) : undefined)
}
