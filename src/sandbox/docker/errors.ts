import { PtcError, messageOf } from '../../common/errors.js'
import { DeadlineError } from './deadline.js'

/** Conflicts for which Podman has only the status 500. */
const podmanConflict = /\bname .* is already in use\b|\bcan only (?:kill|attach to)\b/

/** The HTTP status of a daemon's refusal; undefined when the daemon did not answer. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined
  if (error.statusCode === 500 && podmanConflict.test(messageOf(error))) return 409
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/** What a daemon (or the way to it) said, as one of our errors. `doing` completes "could not …". */
export function dockerError(error: unknown, doing: string): PtcError {
  if (PtcError.isInstance(error)) return error
  const message = `could not ${doing}: ${messageOf(error).trim()}`
  return new PtcError('SANDBOX_UNAVAILABLE', message, { hint: hintFor(error), cause: error })
}

const hints = [
  {
    codes: ['ENOENT', 'ECONNREFUSED'],
    hint: 'Start Docker, or set DOCKER_HOST to where its daemon listens (`docker context inspect` shows it).',
  },
  {
    codes: ['EACCES', 'EPERM'],
    hint: 'This user may not talk to the Docker daemon: add it to the group "docker", or use rootless Docker.',
  },
  {
    codes: ['ENOTFOUND', 'EHOSTUNREACH', 'ETIMEDOUT'],
    hint: 'The host in DOCKER_HOST can not be reached from here.',
  },
]

function hintFor(error: unknown): string {
  if (error instanceof DeadlineError) return 'The Docker daemon is overloaded or hangs: see `docker ps` and its log.'
  const known = hints.find(({ codes }) => codes.includes(systemCodeOf(error) ?? ''))
  return known?.hint ?? 'See the log of the Docker daemon.'
}

function systemCodeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
