import { S3ServiceException } from '@aws-sdk/client-s3'
import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'

/** Errors that pass although they have the status of a permanent error: clocks and tokens are renewed. */
const transientNames =
  /^(RequestTimeTooSkewed|ExpiredToken|ExpiredTokenException|TokenRefreshRequired|SlowDown|RequestTimeout)$/
const fullNames = /(Quota|StorageFull|InsufficientStorage|NoSpace)/i

/**
 * Returns whether the object does not exist. The reply to a HEAD has no body, so its error has only the status and no
 * code.
 */
export function isNotFound(thrown: unknown): boolean {
  return thrown instanceof S3ServiceException && (thrown.name === 'NoSuchKey' || thrown.name === 'NotFound')
}

/** Returns whether another writer was first with a conditional put (412), or writes at the same time (409). */
export function isConflict(thrown: unknown): boolean {
  const status = thrown instanceof S3ServiceException ? thrown.$metadata.httpStatusCode : undefined
  return status === 412 || status === 409
}

/** Converts an error of S3 or of the connection to it. */
export function toS3StoreError(thrown: unknown, store: string): PtcError {
  if (PtcError.isInstance(thrown)) return thrown
  const createError = (code: PtcError['code'], message: string, hint?: string): PtcError =>
    new PtcError(code, message, { cause: thrown, ...defined({ hint }) })
  const detail = describeError(thrown)
  if (thrown instanceof Error && thrown.name === 'CredentialsProviderError') {
    return createError('VALUE_STORE_REFUSED', `there are no credentials for ${store}: ${detail}`, credentialsHint)
  }
  if (!(thrown instanceof S3ServiceException) || transientNames.test(thrown.name)) {
    return createError('VALUE_STORE_UNAVAILABLE', `${store} does not answer: ${detail}`)
  }
  const status = thrown.$metadata.httpStatusCode ?? 0
  if (status === 507 || fullNames.test(thrown.name))
    return createError('VALUE_STORE_FULL', `${store} is full: ${detail}`, fullHint)
  if (thrown.name === 'NoSuchBucket') {
    return createError('VALUE_STORE_REFUSED', `${store} is not there: ${detail}`, bucketHint)
  }
  // The status is a redirection: the bucket is in another region.
  if (status >= 300 && status < 400) {
    return createError('VALUE_STORE_REFUSED', `${store} refuses: ${detail}`, regionHint)
  }
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
    return createError('VALUE_STORE_REFUSED', `${store} refuses: ${detail}`, credentialsHint)
  }
  return createError('VALUE_STORE_UNAVAILABLE', `${store} fails: ${detail}`)
}

const fullHint = 'Raise the quota of the bucket, or remove what nothing needs with `ptc values gc`.'
const bucketHint = 'Create the bucket, or correct `values.store` in the configuration.'
const regionHint = 'Correct `region` and `endpoint` of `values.store` in the configuration.'
const credentialsHint =
  'Check the credentials the AWS SDK finds (AWS_ACCESS_KEY_ID, a profile, a role) and what they may do; docs/reference/values.md has the list.'

/** Describes an error. Some errors, such as those of a HEAD, have only a name or a status. */
function describeError(thrown: unknown): string {
  const message = messageOf(thrown)
  if (!(thrown instanceof S3ServiceException)) return message === '' ? describeCause(thrown) : message
  const status = thrown.$metadata.httpStatusCode
  const name = thrown.name === 'Unknown' || thrown.name === '' ? `status ${status ?? 'unknown'}` : thrown.name
  return message === '' || message === 'UnknownError' || message === thrown.name ? name : `${name}: ${message}`
}

/** Describes the cause of an error. The error of a connection attempt to several addresses has an empty message. */
function describeCause(thrown: unknown): string {
  if (thrown instanceof AggregateError) return thrown.errors.map(messageOf).join(', ')
  return thrown instanceof Error ? thrown.name : 'unknown'
}
