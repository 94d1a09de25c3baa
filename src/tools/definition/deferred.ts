import type { DeferredConfig } from '../../common/calls/deferred-calls.js'
import type { RemoteTarget } from '../../common/calls/tool-config.js'
import { describeUnknownKeys } from '../../common/text/unknown-keys.js'
import { parseDuration } from '../../common/text/duration.js'
import type { InvalidError } from './invalid-tool.js'

const maxExpiresMs = 366 * 24 * 60 * 60 * 1_000

/** @returns undefined for a tool that returns its result */
export function deferredOf(
  { deferred }: { readonly deferred?: unknown },
  remote: RemoteTarget | undefined,
  invalid: InvalidError,
): DeferredConfig | undefined {
  if (deferred === undefined) return undefined
  if (remote !== undefined)
    throw invalid('deferred is for a tool with run', `A ${remote.kind} may take its time itself.`)
  if (typeof deferred !== 'object' || deferred === null) throw invalid("deferred must be an object: { expires: '3d' }")
  const problem = describeUnknownKeys(deferred, ['expires'])
  if (problem !== undefined) throw invalid(`deferred: ${problem}`)
  const expiresMs = parseDuration('expires' in deferred ? deferred.expires : undefined, maxExpiresMs)
  if (expiresMs !== undefined) return Object.freeze({ expiresMs })
  throw invalid("deferred.expires must be milliseconds or text such as '3d', above 0 and at most 366 days")
}
