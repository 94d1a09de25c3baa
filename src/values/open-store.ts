import { LocalStore } from './local/local-store.js'
import type { StoreSettings } from './settings.js'
import type { ValueStore } from './store.js'

/** Makes no request yet: directories are created and servers contacted by the first operation. */
export async function openStore(settings: StoreSettings): Promise<ValueStore> {
  if (settings.kind === 'local') return new LocalStore(settings.directory)
  // Loading the AWS SDK takes half a second.
  const { S3Store } = await import('./s3/s3-store.js')
  return new S3Store(settings)
}
