import { PtcError } from '../../common/errors.js'
import { type Duration, parseDuration } from '../../common/text/duration.js'

/**
 * Milliseconds after which a stream is removed.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function expiryMs(expires: Duration = '1d'): number {
  const ms = parseDuration(expires)
  if (ms !== undefined) return ms
  throw new PtcError('CONFIG_INVALID', 'the stream has an invalid `expires`', {
    hint: "Give milliseconds, or text such as '1d', above 0 and at most 24 days.",
  })
}
