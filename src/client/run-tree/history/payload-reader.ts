import type { LoadedDataConverter } from '@temporalio/common'
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  StorageDriverClaim,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/common'
import { eventLoopBlockKey } from '../../../common/names.js'
import type { FailurePayload, Payload, Payloads } from './event.js'
import { storageReference } from './storage-reference.js'
import type { Failure } from '../tree.js'

/** Decodes payloads with a data converter. Never throws: undefined stands for what can't be read. */
export class PayloadReader {
  readonly #converter: LoadedDataConverter

  constructor(converter: LoadedDataConverter) {
    this.#converter = converter
  }

  /**
   * The first value; undefined when there is none, or when it can't be decoded (for example without its encryption
   * key).
   */
  async first(payloads: Payloads | null | undefined): Promise<unknown> {
    return this.value(payloads?.payloads?.[0])
  }

  async value(payload: Payload | null | undefined): Promise<unknown> {
    if (!payload) return undefined
    try {
      return this.#converter.payloadConverter.fromPayload(await this.#decode(payload))
    } catch {
      // The tree leaves it out: the run itself is not affected.
      return undefined
    }
  }

  /** The note about a blocked event loop, in heartbeat details or in the metadata of a result. */
  async blockedNote(
    heartbeatDetails: Payloads | null | undefined,
    result?: Payloads | null,
  ): Promise<string | undefined> {
    const metadataNote = result?.payloads?.[0]?.metadata?.[eventLoopBlockKey]
    if (metadataNote) return new TextDecoder().decode(metadataNote)
    const details = await this.first(heartbeatDetails)
    const hasNote = typeof details === 'object' && details !== null && eventLoopBlockKey in details
    const note = hasNote ? details[eventLoopBlockKey] : undefined
    return typeof note === 'string' ? note : undefined
  }

  async failure(failure: FailurePayload | null | undefined): Promise<Failure | undefined> {
    if (!failure) return undefined
    const { failureConverter, payloadConverter } = this.#converter
    try {
      return toFailure(failureConverter.failureToError(await this.#decodeFailure(failure), payloadConverter))
    } catch {
      return { code: 'UNKNOWN', message: failure.message ?? '' }
    }
  }

  async #decode(payload: Payload): Promise<Payload> {
    let decoded = await this.#fetch(payload)
    for (const codec of this.#converter.payloadCodecs.toReversed()) {
      const [next] = await codec.decode([decoded])
      if (next) decoded = next
    }
    return decoded
  }

  /** Events are read without the SDK's converter: externally stored payloads are fetched here. */
  async #fetch(payload: Payload): Promise<Payload> {
    const reference = storageReference(payload)
    const driver = reference && this.#converter.externalStorage?.getDriver(reference.driverName)
    if (!driver) return payload
    const [fetched] = await driver.retrieve({}, [new StorageDriverClaim(reference.claimData)])
    return fetched ?? payload
  }

  /** Message and stack may be in an encoded payload. */
  async #decodeFailure(failure: FailurePayload): Promise<FailurePayload> {
    const { encodedAttributes, cause } = failure
    return {
      ...failure,
      encodedAttributes: encodedAttributes ? await this.#decode(encodedAttributes) : null,
      cause: cause ? await this.#decodeFailure(cause) : null,
    }
  }
}

/** The innermost failure is the cause; the outer ones name the activities it passed through. */
function toFailure(error: unknown): Failure {
  if (error instanceof ActivityFailure && error.cause) return toFailure(error.cause)
  if (error instanceof ApplicationFailure) return { code: error.type ?? 'UNKNOWN', message: error.message }
  if (error instanceof TimeoutFailure) return { code: `TIMED_OUT_${error.timeoutType}`, message: error.message }
  if (error instanceof CancelledFailure) return { code: 'CANCELLED', message: error.message }
  if (error instanceof TerminatedFailure) return { code: 'TERMINATED', message: error.message }
  return { code: 'UNKNOWN', message: error instanceof Error ? error.message : String(error) }
}
