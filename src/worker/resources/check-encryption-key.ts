import { Runtime } from '@temporalio/worker'
import { raceWithTimeLimit } from '../../common/async/abort.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { verifyKey } from '../../values/encryption/key-check.js'
import type { EncryptionKey } from '../../values/encryption/key-ring.js'
import type { ValueStore } from '../../values/store.js'

const timeoutMs = 10_000

/**
 * Refuses a key when the store knows another key under the same id. When the store does not answer, is full or is
 * read-only, the worker starts without the check: runs with only small values do not need the store.
 *
 * @throws PtcError DECRYPTION_FAILED
 */
export async function checkEncryptionKey(store: ValueStore, key: EncryptionKey): Promise<void> {
  try {
    await raceWithTimeLimit(undefined, timeoutMs, (signal) => verifyKey(store, key, signal))
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'DECRYPTION_FAILED') throw thrown
    Runtime.instance().logger.warn(`the encryption key ${JSON.stringify(key.id)} was not checked: ${messageOf(thrown)}`)
  }
}
