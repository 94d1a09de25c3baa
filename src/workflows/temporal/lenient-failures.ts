/*
 * The failure converter of our workflows: a failure of another worker whose details or encoded attributes have an
 * unknown encoding is read without them. With the SDK's own converter it would fail the workflow task again and again.
 */
import { DefaultFailureConverter, type PayloadConverter, type ProtoFailure } from '@temporalio/common'

/** Reads every failure. */
export class LenientFailureConverter extends DefaultFailureConverter {
  override failureToError(
    failure: ProtoFailure,
    converter: PayloadConverter,
    ...rest: [Parameters<DefaultFailureConverter['failureToError']>[2]?]
  ): Error {
    return super.failureToError(failure, lenient(converter), ...rest)
  }
}

/** What can't be decoded is undefined. */
function lenient(converter: PayloadConverter): PayloadConverter {
  return {
    toPayload: (...args) => converter.toPayload(...args),
    fromPayload: <T>(...args: Parameters<typeof converter.fromPayload<T>>): T => {
      try {
        return converter.fromPayload<T>(...args)
      } catch {
        return undefined as T
      }
    },
  }
}

/** The name under which the SDK looks for it. */
export const failureConverter = new LenientFailureConverter()
