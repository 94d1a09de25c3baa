import { describeUnknownKeys } from '../../common/text/unknown-keys.js'
import { parseDuration } from '../../common/text/duration.js'
import type { OptionBasis } from './option-basis.js'
import type { Tool } from '../tool.js'

const maxExpiresMs = 366 * 24 * 60 * 60 * 1_000

export function deferredOf({ definition: { deferred }, remote, invalid }: OptionBasis): Pick<Tool, 'deferred'> {
  if (deferred === undefined) return {}
  if (remote !== undefined)
    throw invalid('deferred is for a tool with run', `A ${remote.kind} may take its time itself.`)
  if (typeof deferred !== 'object' || deferred === null) throw invalid("deferred must be an object: { expires: '3d' }")
  const problem = describeUnknownKeys(deferred, ['expires'])
  if (problem !== undefined) throw invalid(`deferred: ${problem}`)
  const expiresMs = parseDuration('expires' in deferred ? deferred.expires : undefined, maxExpiresMs)
  if (expiresMs !== undefined) return { deferred: Object.freeze({ expiresMs }) }
  throw invalid("deferred.expires must be milliseconds or text such as '3d', above 0 and at most 366 days")
}
