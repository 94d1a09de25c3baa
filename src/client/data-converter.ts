import type { DataConverter } from '@temporalio/common'
import { extendDataConverter } from '../values/data-converter.js'
import { openStore } from '../values/open-store.js'
import { type EncryptionOption, parseEncryption } from '../values/encryption/option.js'
import { parseStore, type StoreOption } from '../values/option.js'

interface DataConverterOptions {
  /** `encryption` of the workers' configuration. Default: nothing is encrypted. */
  readonly encryption?: EncryptionOption | undefined
  /** Base of relative paths. Default: the working directory. */
  readonly folder?: string
}

/**
 * Creates the data converter for a Temporal client that starts and reads runs with payloads in the value store, or with
 * encrypted payloads. `store` must be the `values.store` of the workers.
 *
 * @param store the value of the configuration; default: the folder `.ptc/values`
 * @throws PtcError CONFIG_INVALID
 */
export async function createDataConverter(
  store: StoreOption = { kind: 'local' },
  { encryption, folder = process.cwd() }: DataConverterOptions = {},
): Promise<DataConverter> {
  const keys = parseEncryption(encryption)
  const opened = await openStore(parseStore(store, folder), keys)
  return extendDataConverter(undefined, { open: () => opened, keys })
}
