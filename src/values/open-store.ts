import { LocalStore } from './local-store.js'
import type { StoreSettings } from './settings.js'
import type { ValueStore } from './store.js'

/** Opens nothing yet: folders are made, and servers asked, when there is something to keep. */
export async function openStore(settings: StoreSettings): Promise<ValueStore> {
  if (settings.kind === 'local') return new LocalStore(settings.directory)
  // Half a second to load: only for those who use it.
  const { S3Store } = await import('./s3-store.js')
  return new S3Store(settings)
}
