import type { LoadedDataConverter } from '@temporalio/common'
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  StorageDriverClaim,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/common'
import { blockedNote } from '../../common/names.js'
import type { Failed, Payload, Payloads } from './event.js'
import { storageReference } from './storage-reference.js'
import type { Failure } from './tree.js'

/** Gives the values back that a data converter made payloads of. */
export class PayloadReader {
  readonly #converter: LoadedDataConverter

  constructor(converter: LoadedDataConverter) {
    this.#converter = converter
  }

  /** The first value; undefined when there is none, or when it can't be read (a key we do not have). */
  async first(payloads: Payloads | null | undefined): Promise<unknown> {
    return this.value(payloads?.payloads?.[0])
  }

  async value(payload: Payload | null | undefined): Promise<unknown> {
    if (!payload) return undefined
    try {
      return this.#converter.payloadConverter.fromPayload(await this.#decode(payload))
    } catch {
      // The tree is drawn without it: what can't be read here is no fault of the run.
      return undefined
    }
  }

  /** What is said of a blocked event loop in heartbeat details, or beside a result. */
  async blockedNote(
    heartbeatDetails: Payloads | null | undefined,
    result?: Payloads | null,
  ): Promise<string | undefined> {
    const beside = result?.payloads?.[0]?.metadata?.[blockedNote]
    if (beside) return new TextDecoder().decode(beside)
    const details = await this.first(heartbeatDetails)
    const isNoted = typeof details === 'object' && details !== null && blockedNote in details
    const note = isNoted ? details[blockedNote] : undefined
    return typeof note === 'string' ? note : undefined
  }

  async failure(failure: Failed | null | undefined): Promise<Failure | undefined> {
    if (!failure) return undefined
    const { failureConverter, payloadConverter } = this.#converter
    try {
      return describe(failureConverter.failureToError(await this.#decodeFailure(failure), payloadConverter))
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

  /** Events come as the server has them, so what is kept outside of them is fetched here. */
  async #fetch(payload: Payload): Promise<Payload> {
    const reference = storageReference(payload)
    const driver = reference && this.#converter.externalStorage?.getDriver(reference.driverName)
    if (!driver) return payload
    const [fetched] = await driver.retrieve({}, [new StorageDriverClaim(reference.claimData)])
    return fetched ?? payload
  }

  /** Message and stack may be in a payload of their own, encoded like any other. */
  async #decodeFailure(failure: Failed): Promise<Failed> {
    const { encodedAttributes, cause } = failure
    return {
      ...failure,
      encodedAttributes: encodedAttributes ? await this.#decode(encodedAttributes) : null,
      cause: cause ? await this.#decodeFailure(cause) : null,
    }
  }
}

/** The innermost failure says it best; what lies around it only says where it came through. */
function describe(error: unknown): Failure {
  if (error instanceof ActivityFailure && error.cause) return describe(error.cause)
  if (error instanceof ApplicationFailure) return { code: error.type ?? 'UNKNOWN', message: error.message }
  if (error instanceof TimeoutFailure) return { code: `TIMED_OUT_${error.timeoutType}`, message: error.message }
  if (error instanceof CancelledFailure) return { code: 'CANCELLED', message: error.message }
  if (error instanceof TerminatedFailure) return { code: 'TERMINATED', message: error.message }
  return { code: 'UNKNOWN', message: error instanceof Error ? error.message : String(error) }
}
