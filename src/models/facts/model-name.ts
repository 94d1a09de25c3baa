import { PtcError } from '../../common/errors.js'
import type { ModelConfig, ModelId } from '../../common/run/run-config.js'
import { didYouMean } from '../../common/text/unknown-keys.js'

/** The provider of a model whose name has none. */
export const defaultProvider = 'anthropic'

/**
 * `PROVIDER/MODEL`, or a model of the default provider. A list has fallbacks: when a model fails, the next one replies.
 */
export type ModelNames = string | readonly string[]

/**
 * The models of these names.
 *
 * @param providers names of the providers of the configuration
 * @throws PtcError MODEL_NOT_FOUND for an unknown provider
 */
export function parseModelNames(
  names: ModelNames,
  providers: readonly string[],
): Pick<ModelConfig, 'provider' | 'name' | 'fallbacks'> {
  const [first, ...fallbacks] = [names].flat().map((name) => parseModelName(name, providers))
  if (first === undefined) throw new PtcError('MODEL_NOT_FOUND', 'the list of models is empty')
  return { ...first, ...(fallbacks.length > 0 && { fallbacks }) }
}

/** Parses one name. The id of a model may itself contain `/`. */
function parseModelName(text: string, providers: readonly string[]): ModelId {
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
