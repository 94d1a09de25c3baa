import { EncryptedStore } from './encryption/encrypted-store.js'
import type { KeyRing } from './encryption/key-ring.js'
import { LocalStore } from './local/local-store.js'
import type { StoreSettings } from './settings.js'
import type { ValueStore } from './store.js'

/**
 * Makes no request yet: directories are created and servers contacted by the first operation.
 *
 * @param keys encrypt the values; undefined: values are stored as they are
 */
export async function openStore(settings: StoreSettings, keys?: KeyRing): Promise<ValueStore> {
  const store = await openPlainStore(settings)
  return keys === undefined ? store : new EncryptedStore(store, keys)
}

async function openPlainStore(settings: StoreSettings): Promise<ValueStore> {
  if (settings.kind === 'local') return new LocalStore(settings.directory)
  // Loading the AWS SDK takes half a second.
  const { S3Store } = await import('./s3/s3-store.js')
  return new S3Store(settings)
}
