/*
 * The failure converter of workers that encrypt: message and stack of a failure are in a payload, which the codec
 * encrypts. Used in two places: in the bundles for workers that encrypt (`dist/workflow-bundle-encrypted.js`), and by
 * the worker for its activities. Readers need no such converter: the SDK's own converter reads both forms.
 */
import { ApplicationFailure, type ProtoFailure } from '@temporalio/common'
import type { ErrorCode } from '../../common/errors.js'
import { queryRefusedMessage } from '../../common/names.js'
import { LenientFailureConverter } from './lenient-failures.js'

/**
 * Messages of failed queries that stay readable: the server passes on only the message, and the client decides by it.
 */
const queryMessages = [queryRefusedMessage, 'did not register a handler']

/**
 * Codes of failures with readable messages: a reader without a key must be able to see which key is missing. These
 * messages contain nothing else.
 */
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
    // The value is a proxy, or has a getter that throws.
    return false
  }
}

/** The name under which the SDK looks for it. */
export const failureConverter = new EncodedFailureConverter({ encodeCommonAttributes: true })
