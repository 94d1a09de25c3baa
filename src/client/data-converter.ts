import type { DataConverter } from '@temporalio/common'
import { openStore } from '../values/open-store.js'
import { payloadStorage } from '../values/payload-storage.js'
import type { StoreOption } from '../worker/config/define-config.js'
import { parseStore } from '../worker/config/values-option.js'

/**
 * The data converter for a Temporal client: lets it start and read runs whose payloads are in the value store. `store`
 * must be the `values.store` of the workers.
 *
 * @param store as in the configuration; default: the folder `.ptc/values`
 * @param folder base of relative paths; default: the working directory
 * @throws PtcError CONFIG_INVALID
 */
export async function createDataConverter(
  store: StoreOption = { kind: 'local' },
  folder = process.cwd(),
): Promise<DataConverter> {
  const opened = await openStore(parseStore(store, folder))
  return { externalStorage: payloadStorage(() => opened) }
}
