import { messageOf } from '../../common/errors.js'
import type { Environment } from '../../sandbox/cache-directory.js'
import { type Check, ok, warning } from './check.js'

const name = 'Model'
const answerMs = 5_000
const defaultUrl = 'https://api.anthropic.com'

/** How the SDK sends each of them. */
const credentials = {
  ANTHROPIC_API_KEY: (key: string) => ({ 'x-api-key': key }),
  ANTHROPIC_AUTH_TOKEN: (token: string) => ({ authorization: `Bearer ${token}` }),
} as const

const variables = Object.keys(credentials) as readonly (keyof typeof credentials)[]

/** Is there a key, and does the API accept it? Asking about a model costs nothing. */
export async function checkModel(
  model: string | undefined,
  environment: Environment = process.env,
  ask: typeof fetch = fetch,
): Promise<Check> {
  const variable = variables.find((each) => (environment[each] ?? '').trim() !== '')
  const given = environment['ANTHROPIC_BASE_URL']
  const where = given === undefined || given === '' ? '' : `, asked at ${given}`
  if (variable === undefined) {
    const message = `no ${variables.join(' or ')} in the environment${where}`
    return warning(name, message, 'Set one where the worker runs; `ptc exec` works without.')
  }
  const secret = (environment[variable] ?? '').trim()
  // The error of such a request would show it.
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    const message = `${variable} has a character that can't be sent`
    return { name, status: 'error', message, remedy: 'Set it again without line breaks and quotes.' }
  }
  const url = `${(given || defaultUrl).replace(/\/$/, '')}/v1/models/${model === undefined ? '' : encodeURIComponent(model)}`
  const headers = { 'anthropic-version': '2023-06-01', ...credentials[variable](secret) }
  try {
    const { status } = await ask(url, { headers, signal: AbortSignal.timeout(answerMs) })
    return judge(status, `${variable} is set${where}`, { variable, model, isOwn: where !== '' })
  } catch (thrown) {
    const remedy = 'Check the network and ANTHROPIC_BASE_URL where the worker runs.'
    return warning(name, `${variable} is set${where}; the API does not answer: ${messageOf(thrown)}`, remedy)
  }
}

interface Asked {
  readonly variable: string
  readonly model: string | undefined
  /** The user's own address: a proxy need not know of models. */
  readonly isOwn: boolean
}

function judge(status: number, found: string, { variable, model, isOwn }: Asked): Check {
  if (status >= 200 && status < 300) return ok(name, `${found} and accepted`)
  if (status === 401 || status === 403) {
    const remedy = `Correct ${variable} where the worker runs; keys are made at console.anthropic.com.`
    return { name, status: 'error', message: `${found}, and refused by the API (${status})`, remedy }
  }
  if (status === 404 && !isOwn && model !== undefined) {
    return warning(name, `${found}; the API knows no model ${model}`, 'Correct model.name in the configuration.')
  }
  return ok(name, `${found}; whether it is accepted can't be asked there (${status})`)
}
