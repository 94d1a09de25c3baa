import type { KeyRing } from '../encryption/key-ring.js'
import type { StoreSettings } from '../option.js'
import { EncryptedObjects } from './encrypted-objects.js'
import { LocalObjects } from './local-objects.js'
import type { ObjectStore } from './object-store.js'

/**
 * Opens a folder or a bucket for small objects.
 *
 * @param keys encrypt the objects. Undefined: they are not encrypted
 */
export async function openObjects(settings: StoreSettings, keys?: KeyRing): Promise<ObjectStore> {
  const store = await openStore(settings)
  return keys ? new EncryptedObjects(store, keys) : store
}

async function openStore(settings: StoreSettings): Promise<ObjectStore> {
  if (settings.kind === 'local') return new LocalObjects(settings.directory)
  // Loading the AWS SDK takes half a second.
  const { S3Objects } = await import('./s3-objects.js')
  return new S3Objects(settings)
}
