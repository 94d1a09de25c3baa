import { join } from 'node:path'
import { digestJson } from '../../../../common/calls/call-identity.js'
import type { KeyRing } from '../../../../values/encryption/key-ring.js'
import type { ObjectStore } from '../../../../values/objects/object-store.js'
import { openObjects } from '../../../../values/objects/open-objects.js'
import type { StoreSettings } from '../../../../values/option.js'
import { TokenStore } from './token-store.js'

/** Where the access to servers is kept: next to the values, which all workers of a fleet share. */
export interface TokenSettings {
  /** The store of values. */
  readonly store: StoreSettings
  /** Undefined: the configuration encrypts nothing. */
  readonly keys: KeyRing | undefined
}

export interface OpenTokenStore {
  readonly tokens: TokenStore
  /** Idempotent. */
  readonly close: () => Promise<void>
}

const folder = 'mcp-tokens'

/** Opens the store when it is first used. The access belongs to the name and the URL of the server. */
export function openTokenStore(name: string, url: string, { store, keys }: TokenSettings): OpenTokenStore {
  let opened: Promise<ObjectStore> | undefined
  const settings =
    store.kind === 'local'
      ? { ...store, directory: join(store.directory, folder) }
      : { ...store, prefix: `${store.prefix}${folder}/` }
  return {
    tokens: new TokenStore(() => (opened ??= openObjects(settings, keys)), digestJson([name, url])),
    async close() {
      const closed = opened
      opened = undefined
      await (await closed)?.close()
    },
  }
}
