import { messageOf } from '../../common/errors.js'
import type { EnvironmentVariables } from '../../sandbox/cache-directory.js'
import { type Check, ok, warning } from './check.js'

const name = 'Model'
const timeoutMs = 5_000
const defaultUrl = 'https://api.anthropic.com'

/** The header of each credential, as in the SDK. */
const credentials = {
  ANTHROPIC_API_KEY: (key: string) => ({ 'x-api-key': key }),
  ANTHROPIC_AUTH_TOKEN: (token: string) => ({ authorization: `Bearer ${token}` }),
} as const

const variables = Object.keys(credentials) as readonly (keyof typeof credentials)[]

/** Checks that a key is set and that the API accepts it. Requests a model's description, which is free. */
export async function checkModel(
  model: string | undefined,
  environment: EnvironmentVariables = process.env,
  fetchUrl: typeof fetch = fetch,
): Promise<Check> {
  const variable = variables.find((each) => (environment[each] ?? '').trim() !== '')
  const baseUrl = environment['ANTHROPIC_BASE_URL']
  const suffix = baseUrl === undefined || baseUrl === '' ? '' : `, asked at ${baseUrl}`
  if (variable === undefined) {
    const message = `no ${variables.join(' or ')} in the environment${suffix}`
    return warning(
      name,
      message,
      'Set one where the worker runs, or in .env beside the configuration; `ptc exec` works without.',
    )
  }
  const secret = (environment[variable] ?? '').trim()
  // The error of such a request would contain the key.
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    const message = `${variable} has a character that can't be sent`
    return { name, status: 'error', message, remedy: 'Set it again without line breaks and quotes.' }
  }
  const url = `${(baseUrl || defaultUrl).replace(/\/$/, '')}/v1/models/${model === undefined ? '' : encodeURIComponent(model)}`
  const headers = { 'anthropic-version': '2023-06-01', ...credentials[variable](secret) }
  try {
    const { status } = await fetchUrl(url, { headers, signal: AbortSignal.timeout(timeoutMs) })
    return checkStatus(status, `${variable} is set${suffix}`, { variable, model, hasCustomUrl: suffix !== '' })
  } catch (thrown) {
    const remedy = 'Check the network and ANTHROPIC_BASE_URL where the worker runs.'
    return warning(name, `${variable} is set${suffix}; the API does not answer: ${messageOf(thrown)}`, remedy)
  }
}

interface ModelQuery {
  readonly variable: string
  readonly model: string | undefined
  /** The address is the user's own: a proxy may not know the models endpoint. */
  readonly hasCustomUrl: boolean
}

function checkStatus(status: number, found: string, { variable, model, hasCustomUrl }: ModelQuery): Check {
  if (status >= 200 && status < 300) return ok(name, `${found} and accepted`)
  if (status === 401 || status === 403) {
    const remedy = `Correct ${variable} where the worker runs; keys are made at console.anthropic.com.`
    return { name, status: 'error', message: `${found}, and refused by the API (${status})`, remedy }
  }
  if (status === 404 && !hasCustomUrl && model !== undefined) {
    return warning(name, `${found}; the API knows no model ${model}`, 'Correct model.name in the configuration.')
  }
  return ok(name, `${found}; whether it is accepted can't be asked there (${status})`)
}
