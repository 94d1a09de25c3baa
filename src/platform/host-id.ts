import { hostname } from 'node:os'
import { PtcError } from '../common/errors.js'

/** The pattern also fits a part of a task queue's name. */
export const hostIdPattern = /^[A-Za-z0-9._-]{1,100}$/

/**
 * Identity of this sandbox host: `PTC_HOST_ID`, else the machine's name. Workers with the same identity share one
 * Docker daemon, so that one of them takes over the sessions of a worker that died.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function defaultHostId(environment: NodeJS.ProcessEnv = process.env): string {
  const id =
    environment['PTC_HOST_ID'] ??
    hostname()
      .replaceAll(/[^A-Za-z0-9._-]/g, '-')
      .slice(0, 100)
  if (hostIdPattern.test(id)) return id
  throw new PtcError('CONFIG_INVALID', `PTC_HOST_ID is ${JSON.stringify(id)}`, {
    hint: 'It may have up to 100 letters, digits, dots, dashes and underscores.',
  })
}
