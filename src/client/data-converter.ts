import type { DataConverter } from '@temporalio/common'
import { openStore } from '../values/open-store.js'
import { payloadStorage } from '../values/payload-storage.js'
import type { StoreOption } from '../worker/config/define-config.js'
import { parseStore } from '../worker/config/values-option.js'

/**
 * For a `@temporalio/client` of your own: reads and starts runs with more in them than Temporal takes. The workers'
 * `values.store` must be the same.
 *
 * @param store as in the configuration; default: the folder `.ptc/values`
 * @param folder relative folders begin there; default: this process's
 * @throws PtcError CONFIG_INVALID
 */
export async function createDataConverter(
  store: StoreOption = { kind: 'local' },
  folder = process.cwd(),
): Promise<DataConverter> {
  return { externalStorage: payloadStorage(await openStore(parseStore(store, folder))) }
}
