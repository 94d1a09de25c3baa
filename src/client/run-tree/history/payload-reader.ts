import type { LoadedDataConverter } from '@temporalio/common'
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  StorageDriverClaim,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/common'
import { eventLoopBlockKey, waitNoteKey } from '../../../common/names.js'
import { encryptionKeyId } from '../../../values/encryption/payload-codec.js'
import { collectPayloads, decodeWith, isEncryptionError, notDecrypted } from '../../temporal/encrypted-payloads.js'
import type { FailurePayload, Payload, Payloads } from './event.js'
import { storageReference } from './storage-reference.js'
import type { Failure } from '../tree.js'

/**
 * Decodes payloads with a data converter. Reading never throws: undefined stands for what can't be read. What can't be
 * decrypted is an error instead, because a run without its texts would look like an empty one.
 *
 * Codecs and the external storage are asynchronous: {@link prepare} applies them to the messages of a page. Reading is
 * synchronous, because promises would be most of its cost.
 */
export class PayloadReader {
  readonly #converter: LoadedDataConverter
  /** What codecs and the external storage made of a payload; undefined where they failed. */
  readonly #prepared = new WeakMap<Payload, Payload | undefined>()

  constructor(converter: LoadedDataConverter) {
    this.#converter = converter
  }

  /**
   * Must be called with each message whose payloads are read.
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

  /**
   * The first value; undefined when there is none, or when it can't be decoded.
   */
  first(payloads: Payloads | null | undefined): unknown {
    return this.value(payloads?.payloads?.[0])
  }

  value(payload: Payload | null | undefined): unknown {
    if (!payload) return undefined
    try {
      return this.#converter.payloadConverter.fromPayload(this.#preparedOf(payload))
    } catch {
      // The tree leaves it out: the run itself is not affected.
      return undefined
    }
  }

  /** The note about a blocked event loop, in heartbeat details or in the metadata of a result. */
  blockedNote(heartbeatDetails: Payloads | null | undefined, result?: Payloads | null): string | undefined {
    const metadataNote = result?.payloads?.[0]?.metadata?.[eventLoopBlockKey]
    if (metadataNote) return new TextDecoder().decode(metadataNote)
    return this.#noteIn(heartbeatDetails, eventLoopBlockKey)
  }

  /** What an activity waits for, by its heartbeat details. */
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

  /** Events are read without the SDK's converter: externally stored payloads are fetched here. */
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

  /** Message and stack may be in an encoded payload. */
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

/** The innermost failure is the cause; the outer ones name the activities it passed through. */
function toFailure(error: unknown): Failure {
  if (error instanceof ActivityFailure && error.cause) return toFailure(error.cause)
  if (error instanceof ApplicationFailure) return { code: error.type ?? 'UNKNOWN', message: error.message }
  if (error instanceof TimeoutFailure) return { code: `TIMED_OUT_${error.timeoutType}`, message: error.message }
  if (error instanceof CancelledFailure) return { code: 'CANCELLED', message: error.message }
  if (error instanceof TerminatedFailure) return { code: 'TERMINATED', message: error.message }
  return { code: 'UNKNOWN', message: error instanceof Error ? error.message : String(error) }
}
