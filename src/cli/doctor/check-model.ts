import { messageOf } from '../../common/errors.js'
import type { EnvironmentVariables } from '../../platform/cache-directory.js'
import {
  type AiSdkProviderOption,
  type AnthropicProviderOption,
  isModelProvider,
  type OpenAIProviderOption,
  type ProviderOption,
} from '../../models/options/providers.js'
import { fetchThroughProxy } from '../../models/http/proxy-fetch.js'
import { type Check, error, ok, warning } from './check.js'

const name = 'Model'
const timeoutMs = 5_000
const setVariable = 'Set one where the worker runs, or in .env beside the configuration; `ptc exec` needs none.'

/** The model that the configuration chooses for runs. */
export interface ConfiguredModel {
  readonly provider: string
  readonly model: string | undefined
  readonly option: ProviderOption
}

interface Endpoint {
  /** The header of each credential, as in the SDK. Empty: the server needs none. */
  readonly credentials: Readonly<Record<string, (secret: string) => Record<string, string>>>
  /** An address other than the vendor's own. */
  readonly baseUrl: string | undefined
  /** The endpoint that describes models. */
  readonly modelsUrl: string
  /** Tells the user which setting has the address. */
  readonly urlSource: string
}

/** Checks that a key is set and that the API accepts it. Requests a model's description, which is free. */
export async function checkModel(
  { provider, model, option }: ConfiguredModel,
  environment: EnvironmentVariables = process.env,
  fetchUrl: typeof fetch = fetchThroughProxy,
): Promise<Check> {
  if (isModelProvider(option))
    return ok(name, `provider ${provider} is defined in the configuration, and can't be checked`)
  if (option.kind === 'bedrock') return ok(name, `provider ${provider}: the first turn checks access to Amazon Bedrock`)
  if (option.kind === 'ai-sdk') return checkVendor(provider, option, environment)
  const { credentials, baseUrl, modelsUrl, urlSource } = endpointOf(provider, option, environment)
  const variables = Object.keys(credentials)
  const variable = variables.find((each) => (environment[each] ?? '').trim() !== '')
  const suffix = baseUrl === undefined ? '' : `, for the API at ${baseUrl}`
  if (variable === undefined && variables.length > 0) {
    const message = `no ${variables.join(' or ')} in the environment${suffix}`
    return warning(name, message, setVariable)
  }
  const secret = variable === undefined ? '' : (environment[variable] ?? '').trim()
  // The error of such a request would contain the key.
  if (variable !== undefined && !/^[\x21-\x7e]+$/.test(secret)) {
    const message = `${variable} has a character that can't be sent`
    return error(name, message, 'Set it again without line breaks and quotes.')
  }
  const url = model === undefined ? modelsUrl : `${modelsUrl}${encodeURIComponent(model)}`
  const headers = {
    ...(option.kind === 'anthropic' && { 'anthropic-version': '2023-06-01' }),
    ...(variable !== undefined && credentials[variable]?.(secret)),
  }
  const found = `${variable === undefined ? `provider ${provider} needs no key` : `${variable} is set`}${suffix}`
  try {
    const { status } = await fetchUrl(url, { headers, signal: AbortSignal.timeout(timeoutMs) })
    return checkStatus(status, found, { variable, model, hasCustomUrl: suffix !== '' })
  } catch (thrown) {
    const remedy = `Check the network and ${urlSource} where the worker runs.`
    return warning(name, `${found}; the API does not answer: ${describeFetchError(thrown)}`, remedy)
  }
}

/** Checks that the key of a vendor is set, if the configuration names it. Its package knows where the API is. */
function checkVendor(
  provider: string,
  { apiKey, package: needed }: AiSdkProviderOption,
  environment: EnvironmentVariables,
): Check {
  const variable = apiKey?.environment
  const suffix = `the first turn checks access with ${needed}`
  if (variable === undefined) return ok(name, `provider ${provider}: ${suffix}`)
  if ((environment[variable] ?? '').trim() !== '') return ok(name, `${variable} is set; ${suffix}`)
  return warning(name, `no ${variable} in the environment`, setVariable)
}

/** `fetch failed` with the reason, which Node has in the causes. */
function describeFetchError(thrown: unknown): string {
  const reasons: string[] = []
  for (let each = thrown; each instanceof Error; each = each.cause) {
    const { errors } = each as { readonly errors?: readonly unknown[] }
    // For a name with several addresses: one error for each address.
    const text = each.message || (errors ?? []).map(messageOf).join(', ')
    if (text !== '' && !reasons.includes(text)) reasons.push(text)
  }
  return reasons.length === 0 ? messageOf(thrown) : reasons.join(': ')
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

function endpointOf(
  provider: string,
  { kind, baseURL, apiKey }: AnthropicProviderOption | OpenAIProviderOption,
  environment: EnvironmentVariables,
): Endpoint {
  const urlVariable = kind === 'anthropic' ? 'ANTHROPIC_BASE_URL' : 'OPENAI_BASE_URL'
  const baseUrl = baseURL || environment[urlVariable] || undefined
  const urlSource = baseURL === undefined ? urlVariable : `\`baseURL\` of provider ${provider}`
  const withoutSlash = (url: string) => url.replace(/\/$/, '')
  if (kind === 'anthropic') {
    const apiKeyHeader = (key: string) => ({ 'x-api-key': key })
    const credentials = apiKey
      ? { [apiKey.environment]: apiKeyHeader }
      : { ANTHROPIC_API_KEY: apiKeyHeader, ANTHROPIC_AUTH_TOKEN: bearer }
    return {
      credentials,
      baseUrl,
      modelsUrl: `${withoutSlash(baseUrl ?? 'https://api.anthropic.com')}/v1/models/`,
      urlSource,
    }
  }
  const keyVariable = apiKey?.environment ?? (baseURL === undefined ? 'OPENAI_API_KEY' : undefined)
  return {
    credentials: keyVariable === undefined ? {} : { [keyVariable]: bearer },
    baseUrl,
    modelsUrl: `${withoutSlash(baseUrl ?? 'https://api.openai.com/v1')}/models/`,
    urlSource,
  }
}

interface ModelQuery {
  readonly variable: string | undefined
  readonly model: string | undefined
  /** The user chose the address: a proxy may not have the models endpoint. */
  readonly hasCustomUrl: boolean
}

function checkStatus(status: number, found: string, { variable, model, hasCustomUrl }: ModelQuery): Check {
  if (status >= 200 && status < 300) return ok(name, `${found}, and the API accepts requests`)
  if (status === 401 || status === 403) {
    const remedy =
      variable === undefined
        ? 'Name the environment variable of the key in `apiKey` of the provider.'
        : `Correct ${variable} where the worker runs; the console of the provider makes keys.`
    return error(name, `${found}, and refused by the API (${status})`, remedy)
  }
  if (status === 404 && !hasCustomUrl && model !== undefined) {
    return warning(
      name,
      `${found}; the API does not know the model ${model}`,
      'Correct model.name in the configuration.',
    )
  }
  return ok(name, `${found}; the API gave no answer about the key (${status})`)
}
