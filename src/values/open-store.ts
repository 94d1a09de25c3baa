import { EncryptedStore } from './encryption/encrypted-store.js'
import type { KeyRing } from './encryption/key-ring.js'
import { LocalStore } from './local/local-store.js'
import type { StoreSettings } from './option.js'
import type { ValueStore } from './store.js'

/**
 * Opens a store without a request: the first operation creates directories and contacts servers.
 *
 * @param keys the keys that encrypt values; undefined: values are not encrypted
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
