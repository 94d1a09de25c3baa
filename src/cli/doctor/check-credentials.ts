import type { Credentials } from '../../tools/credentials/credentials.js'
import { type Check, ok, warning } from './check.js'

const title = 'Credentials'

/**
 * Checks that this process can read the credentials of tools. Does not show their values. Returns nothing without
 * credentials.
 */
export async function checkCredentials(
  config: { readonly credentials: Credentials } | undefined,
): Promise<readonly Check[]> {
  const { names = [] } = config?.credentials ?? {}
  if (!config || names.length === 0) return []
  const checks = await Promise.all(names.map(async (name) => ({ name, result: await config.credentials.check(name) })))
  const available = checks.flatMap(({ name, result }) => (result.type === 'available' ? [name] : []))
  const functions = checks.flatMap(({ name, result }) => (result.type === 'not_checked' ? [name] : []))
  const missing = checks.flatMap(({ result }) => (result.type === 'missing' ? [result.reason] : []))
  const lines = [
    ...(available.length > 0 ? [`available: ${available.join(', ')}`] : []),
    ...(functions.length > 0
      ? [`not checked, because their functions run only for a call: ${functions.join(', ')}`]
      : []),
    ...missing,
  ]
  if (missing.length === 0) return [ok(title, lines.join('\n'))]
  const remedy = 'Calls of tools that need a missing credential fail. Only workers with the role tools have to read it.'
  return [warning(title, lines.join('\n'), remedy)]
}
