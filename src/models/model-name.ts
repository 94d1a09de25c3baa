import { PtcError } from '../common/errors.js'
import { didYouMean } from '../common/unknown-keys.js'

/** The provider of a model without one in its name. */
export const defaultProvider = 'anthropic'

/** A model of a provider. */
export interface ModelId {
  readonly provider: string
  /** The provider's own model id. */
  readonly name: string
}

/**
 * Parses `PROVIDER/MODEL`, or a model of the default provider. The id of a model may contain `/` itself.
 *
 * @param providers names of the providers of the configuration
 * @throws PtcError MODEL_NOT_FOUND for an unknown provider
 */
export function parseModelName(text: string, providers: readonly string[]): ModelId {
  const slash = text.indexOf('/')
  if (slash === -1) return { provider: defaultProvider, name: text }
  const [provider, name] = [text.slice(0, slash), text.slice(slash + 1)]
  if (!providers.includes(provider)) {
    const message = `there is no model provider ${JSON.stringify(provider)}${didYouMean(provider, providers)}`
    throw new PtcError('MODEL_NOT_FOUND', message, {
      hint: `Write PROVIDER/MODEL. There are: ${providers.join(', ')}.`,
    })
  }
  if (name === '') throw new PtcError('MODEL_NOT_FOUND', `${JSON.stringify(text)} names no model`)
  return { provider, name }
}
