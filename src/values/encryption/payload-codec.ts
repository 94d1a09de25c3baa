import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Payload, PayloadCodec } from '@temporalio/common'
import proto from '@temporalio/proto'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { metrics } from '../../common/telemetry/metrics.js'
import type { EncryptionKey, KeyRing } from './key-ring.js'

const { Payload: PayloadMessage } = proto.temporal.api.common.v1

/**
 * The format of Temporal's encryption samples, in all their languages: the whole payload, encrypted by AES-256-GCM, as
 * nonce (12 bytes), ciphertext, tag (16 bytes). A worker in another language can use the codec of its sample.
 */
const encoding = 'binary/encrypted'
const keyIdField = 'encryption-key-id'
const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/**
 * Encrypts payloads with the current key. Decrypts them with the key that they name. A payload that is not encrypted is
 * returned unchanged, so that runs from before the encryption can be read.
 */
export class EncryptionCodec implements PayloadCodec {
  readonly #keys: KeyRing
  readonly #toError: (thrown: unknown) => unknown

  /** @param toError converts errors; a worker throws failures with the error code as their type */
  constructor(keys: KeyRing, toError: (thrown: unknown) => unknown = (thrown) => thrown) {
    this.#keys = keys
    this.#toError = toError
  }

  /** @throws PtcError ENCRYPTION_KEY_UNAVAILABLE, CONFIG_INVALID */
  async encode(payloads: readonly Payload[]): Promise<Payload[]> {
    try {
      const key = await this.#keys.current()
      return payloads.map((payload) => encryptPayload(payload, key))
    } catch (thrown) {
      throw this.#failure(thrown)
    }
  }

  /** @throws PtcError ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED, CONFIG_INVALID */
  async decode(payloads: readonly Payload[]): Promise<Payload[]> {
    try {
      return await Promise.all(payloads.map((payload) => this.#decode(payload)))
    } catch (thrown) {
      throw this.#failure(thrown)
    }
  }

  async #decode(payload: Payload): Promise<Payload> {
    const id = encryptionKeyId(payload)
    return id === undefined ? payload : decryptPayload(payload, await this.#keys.find(id))
  }

  #failure(thrown: unknown): unknown {
    if (PtcError.isInstance(thrown)) metrics.add('ptc_encryption_failures_total', 1, { code: thrown.code })
    return this.#toError(thrown)
  }
}

/** Returns the id of the key that encrypts a payload; undefined for any other payload. */
export function encryptionKeyId({ metadata }: Payload): string | undefined {
  const found = metadata?.['encoding']
  // Most payloads are not encrypted: their encoding has another length.
  if (found?.byteLength !== encoding.length || Buffer.from(found).toString() !== encoding) return undefined
  return Buffer.from(metadata?.[keyIdField] ?? []).toString()
}

export function encryptPayload(payload: Payload, { id, bytes }: EncryptionKey): Payload {
  const nonce = randomBytes(nonceBytes)
  const encryption = createCipheriv(cipher, bytes, nonce)
  const encrypted = [encryption.update(PayloadMessage.encode(payload).finish()), encryption.final()]
  return {
    metadata: { encoding: Buffer.from(encoding), [keyIdField]: Buffer.from(id) },
    data: Buffer.concat([nonce, ...encrypted, encryption.getAuthTag()]),
  }
}

/** @throws PtcError DECRYPTION_FAILED */
function decryptPayload({ data }: Payload, { id, bytes }: EncryptionKey): Payload {
  const encrypted = data ?? new Uint8Array()
  try {
    const decryption = createDecipheriv(cipher, bytes, encrypted.subarray(0, nonceBytes), { authTagLength: tagBytes })
    decryption.setAuthTag(encrypted.subarray(-tagBytes))
    const decrypted = [decryption.update(encrypted.subarray(nonceBytes, -tagBytes)), decryption.final()]
    const { metadata, data: content } = PayloadMessage.decode(Buffer.concat(decrypted))
    // protobufjs decodes an empty field to an array.
    return { metadata, data: content.byteLength > 0 ? content : new Uint8Array() }
  } catch (cause) {
    throw decryptionFailed('a payload', id, cause)
  }
}

/** Returns a permanent error: this is another key of the same id, or other bytes. */
export function decryptionFailed(what: string, keyId: string, cause?: unknown): PtcError {
  return new PtcError('DECRYPTION_FAILED', `${what} can't be decrypted with the key ${JSON.stringify(keyId)}`, {
    hint: 'It was changed, or encrypted with another key of this id. A new key needs a new id.',
    ...defined({ cause }),
  })
}
