import { PtcError, messageOf } from '../../../common/errors.js'
import { TimeoutError } from './with-timeout.js'

/**
 * Returns the HTTP status of a daemon's refusal, from dockerode's error or from a PtcError with that error as its
 * cause; undefined when the daemon did not respond.
 */
export function statusOf(thrown: unknown): number | undefined {
  const error = PtcError.isInstance(thrown) ? thrown.cause : thrown
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/**
 * Converts an error of a daemon, or of the connection to it, to a PtcError.
 *
 * @param action completes "could not …"
 * @param context the Docker context that has the address of the daemon
 */
export function dockerError(error: unknown, action: string, context?: string): PtcError {
  if (PtcError.isInstance(error)) return error
  const isBackendDown = isDown(error)
  const where = context !== undefined && isBackendDown ? ` (Docker context ${JSON.stringify(context)})` : ''
  const message = `could not ${action}${where}: ${messageOf(error).trim()}`
  const code = isBackendDown ? 'SANDBOX_BACKEND_DOWN' : 'SANDBOX_UNAVAILABLE'
  return new PtcError(code, message, { hint: hintFor(error), cause: error })
}

/** This process has no file descriptor or memory for a connection: the error says nothing about the daemon. */
const exhaustionCodes = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']

const connectionCodes = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH']

/**
 * Returns whether the daemon does not answer. The request itself may be right, and succeeds when the daemon is
 * available again.
 */
function isDown(error: unknown): boolean {
  if (error instanceof TimeoutError) return true
  if (exhaustionCodes.includes(systemCodeOf(error) ?? '')) return false
  const isConnecting = isObject(error) && (error['syscall'] === 'connect' || error['syscall'] === 'getaddrinfo')
  return isConnecting || connectionCodes.includes(systemCodeOf(error) ?? '')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

const hints = [
  {
    codes: ['ENOENT', 'ECONNREFUSED'],
    hint: 'Start Docker, or name its daemon by `docker context use` or DOCKER_HOST (`docker context ls` shows addresses).',
  },
  {
    codes: ['EACCES', 'EPERM'],
    hint: 'This user has no access to the Docker daemon: add the user to the group "docker", or use rootless Docker.',
  },
  {
    codes: exhaustionCodes,
    hint: 'This worker or its machine has no free file descriptors or memory: see `ulimit -n` and the memory.',
  },
  {
    codes: ['ENOTFOUND', 'EHOSTUNREACH', 'ETIMEDOUT'],
    hint: 'The host in DOCKER_HOST or in the Docker context can not be reached from here.',
  },
]

function hintFor(error: unknown): string {
  if (error instanceof TimeoutError) return 'The Docker daemon is overloaded or hangs: see `docker ps` and its log.'
  const known = hints.find(({ codes }) => codes.includes(systemCodeOf(error) ?? ''))
  return known?.hint ?? 'See the log of the Docker daemon.'
}

function systemCodeOf(error: unknown): string | undefined {
  return isObject(error) && typeof error['code'] === 'string' ? error['code'] : undefined
}
