/*
 * The failure converter of the engine's workers and workflows.
 *
 * It reads every failure. It leaves out parts that another worker wrote in an unknown encoding, or incompletely. With
 * the SDK's own converter, such a part would fail the workflow task repeatedly.
 *
 * It writes everything that can be thrown, in a size that sdk-core and the server accept. A failure that can't be
 * written would end the worker, and then the next one.
 */
import {
  ApplicationFailure,
  CancelledFailure,
  DefaultFailureConverter,
  type PayloadConverter,
  type ProtoFailure,
} from '@temporalio/common'
import { takeStart, truncateMiddle } from '../../common/text/text.js'

/** sdk-core reads messages up to a depth of 100. */
const maxCauses = 10
/**
 * Maximum characters of a message, and of a stack. A failure with all its causes stays under the server's limit of 2
 * MB.
 */
const maxCharacters = 10_000
const maxTypeCharacters = 200
/** Ten years. Longer delays and negative delays are ignored. */
const maxDelaySeconds = 10 * 365 * 24 * 3_600

type Rest = [PayloadConverter, Parameters<DefaultFailureConverter['failureToError']>[2]?]

/** Reads every failure, and writes every thrown value. */
export class LenientFailureConverter extends DefaultFailureConverter {
  /** Number of failures that enclose the one in progress. */
  #depth = 0

  override failureToError(failure: ProtoFailure, ...[converter, ...rest]: Rest): Error {
    try {
      return super.failureToError(failure, lenient(converter), ...rest)
    } catch {
      return new ApplicationFailure(failure.message)
    }
  }

  override errorToFailure(thrown: unknown, ...rest: Rest): ProtoFailure {
    const depth = this.#depth
    try {
      return super.errorToFailure(shortened(thrown), ...rest)
    } catch {
      this.#depth = depth
      return super.errorToFailure(readableError(thrown), ...rest)
    }
  }

  override errorToFailureInner(thrown: unknown, ...rest: Rest): ProtoFailure {
    return bounded(super.errorToFailureInner(thrown, ...rest), this.#depth)
  }

  override optionalErrorToOptionalFailure(cause: unknown, ...rest: Rest): ProtoFailure | undefined {
    if (this.#depth === maxCauses) return undefined
    this.#depth += 1
    const failure = super.optionalErrorToOptionalFailure(cause, ...rest)
    this.#depth -= 1
    return failure
  }
}

/** Returns a converter that decodes an unreadable payload as undefined. */
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

/**
 * Returns the same value, or a copy with a shortened text: the time that the SDK takes for a stack is quadratic in its
 * white space.
 */
function shortened(thrown: unknown): unknown {
  if (typeof thrown === 'string') return truncateMiddle(thrown, maxCharacters)
  if (!(thrown instanceof Error)) return thrown
  const [message, stack] = [textOf(thrown.message), textOf(thrown.stack)]
  if (message.length + stack.length <= maxCharacters && !longSpace.test(stack)) return thrown
  return Object.create(Object.getPrototypeOf(thrown) as object, {
    ...Object.getOwnPropertyDescriptors(thrown),
    message: { value: truncateMiddle(message, maxCharacters) },
    stack: { value: takeStart(takeStart(stack, 10 * maxCharacters).replaceAll(longSpaces, ' '), maxCharacters) },
  })
}

const longSpace = /\s{100}/
const longSpaces = /\s{100,}/g

/**
 * Returns an error with the readable parts of a thrown value: message, stack, type, and whether it is retried. Getters
 * and proxies may throw.
 */
function readableError(thrown: unknown): Error {
  const error = typeof thrown === 'object' && thrown !== null ? (thrown as Partial<ApplicationFailure>) : {}
  const read = (name: 'message' | 'stack' | 'type'): string => attempt(() => textOf(error[name])) ?? ''
  const text = typeof thrown === 'string' ? thrown : read('message')
  const message = text === '' ? 'something was thrown that can not be read' : truncateMiddle(text, maxCharacters)
  const readable = attempt(() => thrown instanceof CancelledFailure)
    ? new CancelledFailure(message)
    : ApplicationFailure.create({
        message,
        type: read('type') || 'Error',
        nonRetryable: attempt(() => error.nonRetryable === true) ?? false,
      })
  readable.stack = takeStart(read('stack'), maxCharacters)
  return readable
}

function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Limits the size of a failure, because a failure from another worker may have any size. Encoded texts are in the
 * details.
 */
function bounded(failure: ProtoFailure, depth: number): ProtoFailure {
  const { message, stackTrace, source, cause, applicationFailureInfo: info } = failure
  return {
    ...failure,
    message: truncateMiddle(textOf(message), maxCharacters),
    stackTrace: takeStart(textOf(stackTrace), maxCharacters),
    source: takeStart(textOf(source), maxTypeCharacters),
    ...(cause && { cause: depth < maxCauses ? bounded(cause, depth + 1) : null }),
    ...(info && {
      applicationFailureInfo: {
        ...info,
        type: takeStart(textOf(info.type), maxTypeCharacters),
        ...(info.nextRetryDelay && { nextRetryDelay: isDelay(info.nextRetryDelay) ? info.nextRetryDelay : null }),
      },
    }),
  }
}

function isDelay({ seconds }: { readonly seconds?: { toNumber(): number } | null }): boolean {
  const value = seconds?.toNumber() ?? 0
  return value >= 0 && value <= maxDelaySeconds
}

/** The name under which the SDK looks for it. */
export const failureConverter = new LenientFailureConverter()
