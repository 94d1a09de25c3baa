import { S3ServiceException } from '@aws-sdk/client-s3'
import { messageOf, PtcError } from '../common/errors.js'

/** Refused now and taken a moment later, although the status says otherwise: clocks and tokens are renewed. */
const passing =
  /^(RequestTimeTooSkewed|ExpiredToken|ExpiredTokenException|TokenRefreshRequired|SlowDown|RequestTimeout)$/
const full = /(Quota|StorageFull|InsufficientStorage|NoSpace)/i

/** Is there simply nothing of this key? A HEAD has no body, hence no code but the status. */
export function isAbsent(thrown: unknown): boolean {
  return thrown instanceof S3ServiceException && (thrown.name === 'NoSuchKey' || thrown.name === 'NotFound')
}

/** What S3 said, or the way to it, as an error of ours. */
export function s3Error(thrown: unknown, store: string): PtcError {
  if (PtcError.isInstance(thrown)) return thrown
  const make = (code: PtcError['code'], message: string, hint?: string): PtcError =>
    new PtcError(code, message, { cause: thrown, ...(hint === undefined ? {} : { hint }) })
  const said = saidBy(thrown)
  if (thrown instanceof Error && thrown.name === 'CredentialsProviderError') {
    return make('VALUE_STORE_REFUSED', `there are no credentials for ${store}: ${said}`, credentialsHint)
  }
  if (!(thrown instanceof S3ServiceException) || passing.test(thrown.name)) {
    return make('VALUE_STORE_UNAVAILABLE', `${store} does not answer: ${said}`)
  }
  const status = thrown.$metadata.httpStatusCode ?? 0
  if (status === 507 || full.test(thrown.name)) return make('VALUE_STORE_FULL', `${store} is full: ${said}`)
  if (thrown.name === 'NoSuchBucket') return make('VALUE_STORE_REFUSED', `${store} is not there: ${said}`)
  if (status >= 300 && status < 500 && status !== 408 && status !== 429) {
    return make('VALUE_STORE_REFUSED', `${store} refuses: ${said}`, credentialsHint)
  }
  return make('VALUE_STORE_UNAVAILABLE', `${store} fails: ${said}`)
}

const credentialsHint =
  'Check the credentials the AWS SDK finds (AWS_ACCESS_KEY_ID, a profile, a role) and what they may do; docs/values.md has the list.'

/** Some errors, of a HEAD for one, have nothing but a name or a status. */
function saidBy(thrown: unknown): string {
  const message = messageOf(thrown)
  if (!(thrown instanceof S3ServiceException)) return message === '' ? causeOf(thrown) : message
  const status = thrown.$metadata.httpStatusCode
  const name = thrown.name === 'Unknown' || thrown.name === '' ? `status ${status ?? 'unknown'}` : thrown.name
  return message === '' || message === 'UnknownError' || message === thrown.name ? name : `${name}: ${message}`
}

/** A connection that was tried at several addresses fails with an empty message. */
function causeOf(thrown: unknown): string {
  if (thrown instanceof AggregateError) return thrown.errors.map(messageOf).join(', ')
  return thrown instanceof Error ? thrown.name : 'unknown'
}
