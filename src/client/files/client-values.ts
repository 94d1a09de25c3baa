import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { storeOf } from '../../values/payload-storage.js'
import { Values } from '../../values/values.js'
import { dataConverterHint } from '../temporal/temporal-error.js'

/** As for the payloads of a client. */
const retryForMs = 30_000

/**
 * Returns the values of the store of a client's data converter. Temporal's client owns the store: do not close it.
 *
 * @param what what needs the store, for the message of the error
 * @throws PtcError VALUE_STORE_UNKNOWN
 */
export async function clientValues(client: Client, what: string): Promise<Values> {
  const store = await storeOf(client.options.loadedDataConverter.externalStorage)
  if (store !== undefined) return new Values({ store, retryForMs })
  throw new PtcError('VALUE_STORE_UNKNOWN', `${what} need the value store`, { hint: dataConverterHint })
}
