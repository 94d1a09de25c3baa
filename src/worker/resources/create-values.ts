import { noteWait } from '../../activities/activity-channel.js'
import { openStore } from '../../values/open-store.js'
import { Values } from '../../values/values.js'
import type { ResolvedConfig } from '../../config/parse-config.js'

/** Opens the value store of a worker. The worker closes it. */
export async function createValues({
  values,
  encryption,
}: Pick<ResolvedConfig, 'values' | 'encryption'>): Promise<Values> {
  const { store, retryForMs } = values
  return new Values({ store: await openStore(store, encryption), retryForMs, onWait: noteWait })
}
