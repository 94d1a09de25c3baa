/*
 * The failure converter of workers that encrypt: message and stack of a failure are in a payload, which the codec
 * encrypts. Used in two places: in the bundles for workers that encrypt (`dist/workflow-bundle-encrypted.js`), and by
 * the worker for its activities. Reading needs nothing: the SDK's own converter reads both forms.
 */
import { ApplicationFailure, type ProtoFailure } from '@temporalio/common'
import type { ErrorCode } from '../../common/errors.js'
import { queryRefusedMessage } from '../../common/names.js'
import { LenientFailureConverter } from './lenient-failures.js'

/** For a failed query, the server passes on the message only. The client decides by these. */
const queryMessages = [queryRefusedMessage, 'did not register a handler']

/** Whoever lacks a key must be able to read which one. These messages have nothing else. */
const keyErrors: ReadonlySet<string> = new Set<ErrorCode>(['ENCRYPTION_KEY_UNAVAILABLE', 'DECRYPTION_FAILED'])

class EncodedFailureConverter extends LenientFailureConverter {
  readonly #plain = new LenientFailureConverter()

  override errorToFailure(...args: Parameters<LenientFailureConverter['errorToFailure']>): ProtoFailure {
    return isPlain(args[0]) ? this.#plain.errorToFailure(...args) : super.errorToFailure(...args)
  }
}

function isPlain(error: unknown): boolean {
  try {
    if (error instanceof ApplicationFailure && keyErrors.has(error.type ?? '')) return true
    return error instanceof Error && queryMessages.some((each) => error.message.includes(each))
  } catch {
    // A proxy, or a getter.
    return false
  }
}

/** The name under which the SDK looks for it. */
export const failureConverter = new EncodedFailureConverter({ encodeCommonAttributes: true })
