import { hkdfSync } from 'node:crypto'
import { PtcError } from '../../common/errors.js'
import type { ValueStore } from '../store.js'
import type { EncryptionKey } from './key-ring.js'

/**
 * Compares a key with the earlier key of the same id. The store has a small object for each key id. It is derived from
 * the key and does not reveal it. The first process with a key writes it. The object is not a value, so garbage
 * collection keeps it.
 *
 * @throws PtcError DECRYPTION_FAILED for another key of this id; errors of `putIfAbsent` of the store
 */
export async function verifyKey(store: ValueStore, { id, bytes }: EncryptionKey, signal: AbortSignal): Promise<void> {
  const name = `key-check-${id}`
  const expected = Buffer.from(hkdfSync('sha256', bytes, '', `durable-ptc key check ${id}`, 32)).toString('hex')
  const known = await store.putIfAbsent(name, Buffer.from(expected), signal)
  if (Buffer.from(known).toString() === expected) return
  throw new PtcError(
    'DECRYPTION_FAILED',
    `the encryption key ${JSON.stringify(id)} here is not the one that ${store.description} knows under this id`,
    {
      hint: `Give this process the earlier key; a new key needs a new id. If the earlier key was wrong, remove ${name} there.`,
    },
  )
}
