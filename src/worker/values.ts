import { openStore } from '../values/open-store.js'
import { Values } from '../values/values.js'
import type { ResolvedConfig } from './config/parse-config.js'

/** The values of a worker, where its configuration says; to be closed with it. */
export async function createValues({ values }: Pick<ResolvedConfig, 'values'>): Promise<Values> {
  const { store, inlineBytes, patienceMs } = values
  return new Values({ store: await openStore(store), inlineBytes, patienceMs })
}
