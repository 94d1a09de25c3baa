/*
 * The format of an encrypted value in a store, which is read and written in pieces of any size.
 *
 *   header  magic (8 bytes), length of the key id (1), key id, salt (32)
 *   chunk   64 KiB of the value (the last one: the rest), encrypted by AES-256-GCM, and its tag (16)
 *
 * A separate key is derived for each value (HKDF-SHA-256 of the key and the salt). The nonce of a chunk is its number,
 * and whether it is the last one, so no chunk can be moved, left out or added. The header is associated data of each
 * chunk. No byte of a chunk is yielded before its tag is checked.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { EncryptionKey, KeyRing } from './key-ring.js'
import { decryptionFailed } from './payload-codec.js'

const cipher = 'aes-256-gcm'
const chunkBytes = 64 * 1024
const tagBytes = 16
const saltBytes = 32
/** The values of a store are JSON or protobuf messages. Neither begins with a zero byte. */
const magic = Buffer.from('\0ptcenc1', 'latin1')
/** Separates the derived keys from other uses of the same key. */
const purpose = 'durable-ptc value'

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export async function* encryptValue(content: Pieces, key: EncryptionKey): AsyncGenerator<Uint8Array, void, undefined> {
  const id = Buffer.from(key.id)
  const header = Buffer.concat([magic, Buffer.of(id.byteLength), id, randomBytes(saltBytes)])
  const valueKey = deriveKey(key, header)
  const reader = new PieceReader(content)
  try {
    yield header
    for await (const { chunk, nonce } of readChunks(reader, chunkBytes)) {
      const encryption = createCipheriv(cipher, valueKey, nonce).setAAD(header)
      yield Buffer.concat([encryption.update(chunk), encryption.final(), encryption.getAuthTag()])
    }
  } finally {
    await reader.close()
  }
}

/**
 * Decrypts content. Content that is not encrypted is yielded unchanged, so that values from before the encryption can
 * be read.
 *
 * @throws PtcError ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED, CONFIG_INVALID
 */
export async function* decryptValue(content: Pieces, keys: KeyRing): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = new PieceReader(content)
  try {
    const start = await reader.read(magic.byteLength)
    if (!start.equals(magic)) {
      if (start.byteLength > 0) yield start
      yield* reader.rest()
      return
    }
    const idLength = await reader.read(1)
    const id = await reader.read(idLength[0] ?? 0)
    const header = Buffer.concat([start, idLength, id, await reader.read(saltBytes)])
    const key = await keys.find(id.toString('latin1'))
    const valueKey = deriveKey(key, header)
    for await (const { chunk, nonce } of readChunks(reader, chunkBytes + tagBytes))
      yield decryptChunk(chunk, nonce, { header, valueKey, keyId: key.id })
  } finally {
    await reader.close()
  }
}

/** The maximum bytes of encrypted content, for a value of this size. */
export function maxEncryptedBytes(bytes: number): number {
  const header = magic.byteLength + 1 + 255 + saltBytes
  return header + bytes + tagBytes * (Math.ceil(bytes / chunkBytes) + 1)
}

interface ValueKey {
  readonly header: Buffer
  readonly valueKey: Buffer
  readonly keyId: string
}

function decryptChunk(chunk: Buffer, nonce: Buffer, { header, valueKey, keyId }: ValueKey): Buffer {
  try {
    const decryption = createDecipheriv(cipher, valueKey, nonce, { authTagLength: tagBytes })
    decryption.setAAD(header).setAuthTag(chunk.subarray(-tagBytes))
    return Buffer.concat([decryption.update(chunk.subarray(0, -tagBytes)), decryption.final()])
  } catch (cause) {
    throw decryptionFailed('a value of the store', keyId, cause)
  }
}

function deriveKey({ bytes }: EncryptionKey, header: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', bytes, header.subarray(-saltBytes), purpose, 32))
}

/** Yields chunks of one size. The last chunk may be smaller. It is empty only if it is the only one. */
async function* readChunks(
  reader: PieceReader,
  size: number,
): AsyncGenerator<{ readonly chunk: Buffer; readonly nonce: Buffer }, void, undefined> {
  let chunk = await reader.read(size)
  for (let number = 0; ; number += 1) {
    const next = await reader.read(size)
    const isLast = next.byteLength === 0
    yield { chunk, nonce: nonceOf(number, isLast) }
    if (isLast) return
    chunk = next
  }
}

/** Returns 12 bytes: the number of the chunk, and 1 for the last one. */
function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** Reads a given number of bytes from pieces of any size. Copies each byte once. */
class PieceReader {
  readonly #iterator: AsyncIterator<Uint8Array> | Iterator<Uint8Array>
  #left: Uint8Array = new Uint8Array()

  constructor(content: Pieces) {
    this.#iterator = Symbol.asyncIterator in content ? content[Symbol.asyncIterator]() : content[Symbol.iterator]()
  }

  /** Returns this number of bytes; fewer at the end. */
  async read(bytes: number): Promise<Buffer> {
    const target = Buffer.allocUnsafe(bytes)
    let filled = 0
    while (filled < bytes) {
      if (this.#left.byteLength === 0) {
        const { value, done } = await this.#iterator.next()
        if (done === true) break
        this.#left = value
        continue
      }
      const taken = this.#left.subarray(0, bytes - filled)
      target.set(taken, filled)
      filled += taken.byteLength
      this.#left = this.#left.subarray(taken.byteLength)
    }
    return target.subarray(0, filled)
  }

  /** Yields the pieces that have not been read. */
  async *rest(): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#left.byteLength > 0) yield this.#left
    for (;;) {
      const { value, done } = await this.#iterator.next()
      if (done === true) return
      yield value
    }
  }

  /** Closes the source, even when it was not read to the end. */
  async close(): Promise<void> {
    await this.#iterator.return?.()
  }
}
