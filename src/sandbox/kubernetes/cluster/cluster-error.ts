import { isTimeLimit } from '../../../common/async/abort.js'
import { messageOf, PtcError } from '../../../common/errors.js'
import { quoteUntrusted } from '../../sandbox-end.js'

/** The status of a response of the API; undefined when there was none. */
export function statusOf(thrown: unknown): number | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined
  const { code, statusCode, cause } = thrown as Readonly<Record<string, unknown>>
  const status = statusCode ?? code
  if (typeof status === 'number') return status
  return cause === undefined ? undefined : statusOf(cause)
}

/** The message of the object `Status` with which the API refuses a request. */
function detailOf(thrown: unknown): string {
  const { body } = thrown as { readonly body?: unknown }
  const status: unknown = typeof body === 'string' ? parseJson(body) : body
  const message = typeof status === 'object' && status !== null && 'message' in status ? status.message : undefined
  return quoteUntrusted(typeof message === 'string' ? message : messageOf(thrown))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns what went wrong with a request to the API, and what helps. */
export function clusterError(thrown: unknown, action: string): PtcError {
  if (PtcError.isInstance(thrown)) return thrown
  const status = statusOf(thrown)
  const detail = detailOf(thrown)
  const failed = `could not ${action}: ${detail}`
  const error = (code: Parameters<typeof fail>[0], hint: string) => fail(code, failed, hint, thrown)
  if (status === 401)
    return error('SANDBOX_UNAVAILABLE', 'The credentials of the kubeconfig are wrong or have expired: sign in again.')
  if (status === 403 && /quota/i.test(detail))
    return error('SANDBOX_UNAVAILABLE', 'A ResourceQuota of the namespace is used up: raise it, or wait for sessions.')
  if (status === 403 && /RuntimeClass|runtimeclass/.test(detail))
    return error('SANDBOX_UNENFORCED', 'Create the RuntimeClass, or change `sandbox.kubernetes.runtimeClass`.')
  if (status === 403 && /PodSecurity|violates/.test(detail))
    return error(
      'SANDBOX_UNAVAILABLE',
      'A policy of the cluster refuses pods of sandboxes; the message names the field.',
    )
  if (status === 403)
    return error('SANDBOX_UNAVAILABLE', 'The account lacks this right: apply deploy/sandbox-pods.yaml.')
  if (status === 404 && /namespaces?\b/.test(detail))
    return error('SANDBOX_UNAVAILABLE', 'Create the namespace: apply deploy/sandbox-pods.yaml.')
  if (status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429)
    return error('SANDBOX_UNAVAILABLE', 'The message of the cluster says why.')
  if (status === undefined && !isNetworkFailure(thrown))
    return error('SANDBOX_UNAVAILABLE', 'The kubeconfig, its certificates or its program for credentials may be wrong.')
  return error('SANDBOX_BACKEND_DOWN', 'The API server of the cluster does not answer. Runs wait for it.')
}

/** No connection, one that broke, or no response in time. */
function isNetworkFailure(thrown: unknown): boolean {
  if (isTimeLimit(thrown)) return true
  const { code, errno, cause } = thrown as Readonly<Record<string, unknown>>
  if (
    [code, errno].some((name) => typeof name === 'string' && /^E(CONN|HOST|NET|TIMEDOUT|PIPE|NOTFOUND|AI_)/.test(name))
  )
    return true
  return cause !== undefined && cause !== null && isNetworkFailure(cause)
}

function fail(
  code: 'SANDBOX_UNAVAILABLE' | 'SANDBOX_UNENFORCED' | 'SANDBOX_BACKEND_DOWN',
  message: string,
  hint: string,
  cause: unknown,
): PtcError {
  return new PtcError(code, message, { hint, cause })
}
