import type { Environment } from '../../sandbox/cache-directory.js'
import { type Check, ok, warning } from './check.js'

const name = 'Model'
const keys = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'] as const

/** Is there a key? Whether it is a good one only a paid request would tell. */
export function checkModel(environment: Environment = process.env): Check {
  const key = keys.find((variable) => (environment[variable] ?? '').trim() !== '')
  const url = environment['ANTHROPIC_BASE_URL']
  const where = url === undefined || url === '' ? '' : `, asked at ${url}`
  if (key !== undefined) return ok(name, `${key} is set${where}`)
  const message = `no ${keys.join(' or ')} in the environment${where}`
  return warning(name, message, 'Set one where the worker runs; `ptc exec` works without.')
}
