import type { LoadedDataConverter } from '@temporalio/common'
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  StorageDriverClaim,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/common'
import { eventLoopBlockKey, waitNoteKey } from '../../common/names.js'
import { encryptionKeyId } from '../../values/encryption/payload-codec.js'
import { collectPayloads, decodeWith, isEncryptionError, notDecrypted } from './encrypted-payloads.js'
import type { FailurePayload, Payload, Payloads } from './event.js'
import { storageReference } from './storage-reference.js'

/** The failure of an activity, of a workflow or of a child. */
export interface Failure {
  /** An error code of this library, or a code derived from Temporal's failure: `TIMED_OUT_HEARTBEAT`, `CANCELLED`. */
  readonly code: string
  readonly message: string
}

/**
 * Decodes payloads with a data converter. Reading never throws: an unreadable payload is undefined. A payload that
 * can't be decrypted is an error, because a run without its texts would look like an empty one.
 *
 * Codecs and the external storage are asynchronous: {@link prepare} applies them to the messages of a page. Reading is
 * synchronous, because promises would be most of its cost.
 */
export class PayloadReader {
  readonly #converter: LoadedDataConverter
  /** The results of codecs and the external storage for a payload; undefined when they failed. */
  readonly #prepared = new WeakMap<Payload, Payload | undefined>()

  constructor(converter: LoadedDataConverter) {
    this.#converter = converter
  }

  /**
   * Must be called with each message before its payloads are read.
   *
   * @throws PtcError ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED
   */
  async prepare(messages: readonly object[]): Promise<void> {
    const { payloadCodecs } = this.#converter
    const payloads: Payload[] = []
    collectPayloads(messages, payloads)
    for (const payload of payloads) {
      const isPlain = payloadCodecs.length === 0 && payload.metadata?.['messageType'] === undefined
      if (this.#prepared.has(payload)) continue
      const decoded = isPlain ? payload : await this.#decode(payload).catch(undefinedUnlessEncrypted)
      const keyId = decoded && encryptionKeyId(decoded)
      if (keyId !== undefined) throw notDecrypted(keyId)
      if (!isPlain) this.#prepared.set(payload, decoded)
    }
  }

  /** Returns the first value; undefined when there is none, or when it can't be decoded. */
  first(payloads: Payloads | null | undefined): unknown {
    return this.value(payloads?.payloads?.[0])
  }

  value(payload: Payload | null | undefined): unknown {
    if (!payload) return undefined
    try {
      return this.#converter.payloadConverter.fromPayload(this.#preparedOf(payload))
    } catch {
      // The tree leaves the value out. The run itself is not affected.
      return undefined
    }
  }

  /** Returns the note about a blocked event loop, from heartbeat details or from the metadata of a result. */
  blockedNote(heartbeatDetails: Payloads | null | undefined, result?: Payloads | null): string | undefined {
    const metadataNote = result?.payloads?.[0]?.metadata?.[eventLoopBlockKey]
    if (metadataNote) return new TextDecoder().decode(metadataNote)
    return this.#noteIn(heartbeatDetails, eventLoopBlockKey)
  }

  /** Returns the reason of an activity's wait, from its heartbeat details. */
  waitNote(heartbeatDetails: Payloads | null | undefined): string | undefined {
    return this.#noteIn(heartbeatDetails, waitNoteKey)
  }

  #noteIn(heartbeatDetails: Payloads | null | undefined, key: string): string | undefined {
    const details = this.first(heartbeatDetails)
    if (typeof details !== 'object' || details === null) return undefined
    const note = (details as Readonly<Record<string, unknown>>)[key]
    return typeof note === 'string' ? note : undefined
  }

  failure(failure: FailurePayload | null | undefined): Failure | undefined {
    if (!failure) return undefined
    const { failureConverter, payloadConverter } = this.#converter
    try {
      return toFailure(failureConverter.failureToError(this.#preparedFailure(failure), payloadConverter))
    } catch {
      return { code: 'UNKNOWN', message: failure.message ?? '' }
    }
  }

  async #decode(payload: Payload): Promise<Payload> {
    return decodeWith(this.#converter.payloadCodecs, await this.#fetch(payload))
  }

  /** Fetches an externally stored payload, because events are read without the SDK's converter. */
  async #fetch(payload: Payload): Promise<Payload> {
    const reference = storageReference(payload)
    const driver = reference && this.#converter.externalStorage?.getDriver(reference.driverName)
    if (!driver) return payload
    const [fetched] = await driver.retrieve({}, [new StorageDriverClaim(reference.claimData)])
    return fetched ?? payload
  }

  /** @throws Error when the payload could not be decoded */
  #preparedOf(payload: Payload): Payload {
    const prepared = this.#prepared.get(payload)
    if (prepared === undefined && this.#prepared.has(payload)) throw new Error('the payload can not be decoded')
    return prepared ?? payload
  }

  /** Returns the failure with its message and stack, which may be in an encoded payload. */
  #preparedFailure(failure: FailurePayload): FailurePayload {
    const { encodedAttributes, cause } = failure
    return {
      ...failure,
      encodedAttributes: encodedAttributes ? this.#preparedOf(encodedAttributes) : null,
      cause: cause ? this.#preparedFailure(cause) : null,
    }
  }
}

function undefinedUnlessEncrypted(thrown: unknown): undefined {
  if (isEncryptionError(thrown)) throw thrown
}

/** Returns the innermost failure, which is the cause. The outer ones name the activities through which it passed. */
function toFailure(error: unknown): Failure {
  if (error instanceof ActivityFailure && error.cause) return toFailure(error.cause)
  if (error instanceof ApplicationFailure) return { code: error.type ?? 'UNKNOWN', message: error.message }
  if (error instanceof TimeoutFailure) return { code: `TIMED_OUT_${error.timeoutType}`, message: error.message }
  if (error instanceof CancelledFailure) return { code: 'CANCELLED', message: error.message }
  if (error instanceof TerminatedFailure) return { code: 'TERMINATED', message: error.message }
  return { code: 'UNKNOWN', message: error instanceof Error ? error.message : String(error) }
}
