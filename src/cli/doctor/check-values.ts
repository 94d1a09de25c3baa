import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PtcError } from '../../common/errors.js'
import { openStore } from '../../values/open-store.js'
import type { StoreSettings } from '../../values/option.js'
import type { ValueStore } from '../../values/store.js'
import type { ResolvedConfig } from '../../config/parse-config.js'
import { type Check, failed, ok } from './check.js'

const name = 'Values'
const timeoutMs = 15_000

/** Stores, reads and removes a value. Without a configuration: in the default folder. */
export async function checkValues(
  config: Pick<ResolvedConfig, 'values' | 'encryption'> | undefined,
  stateDirectory: string,
): Promise<Check> {
  const settings: StoreSettings = config?.values.store ?? { kind: 'local', directory: join(stateDirectory, 'values') }
  // The check must not create a state directory.
  if (config === undefined && settings.kind === 'local' && !existsSync(stateDirectory)) {
    return ok(name, 'no value is stored here yet')
  }
  let store: ValueStore | undefined
  try {
    store = await openStore(settings, config?.encryption)
    await roundTrip(store, AbortSignal.timeout(timeoutMs))
    return ok(name, `a test value was written to ${store.description} and read back`)
  } catch (thrown) {
    const isTimeout = thrown instanceof Error && thrown.name === 'TimeoutError'
    const place = store?.description ?? 'the value store'
    return isTimeout
      ? failed(name, new PtcError('VALUE_STORE_UNAVAILABLE', `${place} took over ${timeoutMs / 1000} s`))
      : failed(name, thrown)
  } finally {
    await store?.close()
  }
}

/** The value is random, so that no run has the same value: the check removes it. */
async function roundTrip(store: ValueStore, signal: AbortSignal): Promise<void> {
  const content = randomBytes(64)
  const stored = await store.put([content], signal)
  try {
    // Reading checks the digest.
    for await (const _ of store.read(stored, signal));
  } finally {
    await store.remove((stored.stored ?? stored).sha256, signal)
  }
}
