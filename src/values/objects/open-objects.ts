import type { StoreSettings } from '../option.js'
import { LocalObjects } from './local-objects.js'
import type { ObjectStore } from './object-store.js'

/** Opens a folder or a bucket for small objects. */
export async function openObjects(settings: StoreSettings): Promise<ObjectStore> {
  if (settings.kind === 'local') return new LocalObjects(settings.directory)
  // Loading the AWS SDK takes half a second.
  const { S3Objects } = await import('./s3-objects.js')
  return new S3Objects(settings)
}
