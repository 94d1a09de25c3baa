import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'

/** 32 bytes, or their base64 (`openssl rand -base64 32`). */
export type KeyMaterial = Uint8Array | string

export interface KeyRingSettings {
  /** The id of the key that encrypts new values. */
  readonly currentKeyId: string
  /** Finds a key by its id. Returns undefined if there is no such key. */
  readonly key: (id: string) => KeyMaterial | undefined | Promise<KeyMaterial | undefined>
}

export interface EncryptionKey {
  readonly id: string
  /** 32 bytes, for AES-256. */
  readonly bytes: Uint8Array
}

const keyBytes = 32
const base64Pattern = /^[A-Za-z0-9+/]{43}=$/

/**
 * The id becomes part of names of files and variables. It comes from payloads, so any writer of a history can choose
 * it.
 */
export const keyIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/**
 * The encryption keys of this process, by id. A key is resolved once and kept: its id always means the same key. A key
 * that could not be resolved is requested again, because it may be added at any time.
 */
export class KeyRing {
  readonly currentKeyId: string
  readonly #resolve: KeyRingSettings['key']
  readonly #keys = new Map<string, Promise<EncryptionKey>>()

  constructor({ currentKeyId, key }: KeyRingSettings) {
    this.currentKeyId = currentKeyId
    this.#resolve = key
  }

  /**
   * Returns the key that encrypts new values.
   *
   * @throws PtcError of {@link find}
   */
  current(): Promise<EncryptionKey> {
    return this.find(this.currentKeyId)
  }

  /** @throws PtcError ENCRYPTION_KEY_UNAVAILABLE; CONFIG_INVALID for material that is not a key */
  find(id: string): Promise<EncryptionKey> {
    const known = this.#keys.get(id)
    if (known !== undefined) return known
    const loaded = this.#load(id)
    this.#keys.set(id, loaded)
    loaded.catch(() => this.#keys.delete(id))
    return loaded
  }

  async #load(id: string): Promise<EncryptionKey> {
    if (!keyIdPattern.test(id)) throw keyUnavailable(id, 'that is not a valid key id')
    let material: KeyMaterial | undefined
    try {
      material = await this.#resolve(id)
    } catch (cause) {
      throw keyUnavailable(id, messageOf(cause), cause)
    }
    if (material === undefined) throw keyUnavailable(id, '`encryption.key` returns none')
    return { id, bytes: toBytes(id, material) }
  }
}

/** Returns a retryable error: a key may be added at any time, and another worker may have it. */
function keyUnavailable(id: string, reason: string, cause?: unknown): PtcError {
  return new PtcError(
    'ENCRYPTION_KEY_UNAVAILABLE',
    `there is no encryption key ${JSON.stringify(id)} here: ${reason}`,
    {
      hint: 'Give this process the key: `encryption` of its configuration finds keys by their id.',
      ...defined({ cause }),
    },
  )
}

/** Converts the material. Its error does not quote the material. */
function toBytes(id: string, material: KeyMaterial): Uint8Array {
  const bytes = typeof material === 'string' ? fromBase64(material.trim()) : material
  if (bytes instanceof Uint8Array && bytes.byteLength === keyBytes) return Uint8Array.from(bytes)
  throw new PtcError('CONFIG_INVALID', `the encryption key ${JSON.stringify(id)} is not ${keyBytes} bytes`, {
    hint: 'Return 32 bytes, or their base64: `openssl rand -base64 32` makes a key.',
  })
}

function fromBase64(text: string): Uint8Array | undefined {
  return base64Pattern.test(text) ? Buffer.from(text, 'base64') : undefined
}
