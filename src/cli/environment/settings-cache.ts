import { createHash } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { cacheDirectory } from '../../platform/cache-directory.js'
import type { ResolvedConfig } from '../../config/parse-config.js'
import { parseStore, type StoreSettings } from '../../values/option.js'
import { makeFolder } from '../../platform/make-folder.js'

/** The settings that read-only commands need from a configuration. */
export interface CachedSettings {
  readonly taskQueue: string
  readonly store: StoreSettings
  /** Undefined: nothing is encrypted. Keys are never cached. */
  readonly currentKeyId?: string | undefined
}

const cachedSettingsSchema = z.object({
  taskQueue: z.string().min(1),
  store: z.unknown(),
  currentKeyId: z.string().optional(),
})

/**
 * Caches settings of a configuration, so that a command that only reads need not run the configuration's code. The file
 * is in the user's cache folder, not in the project: a repository can't contain it. A failure to write is ignored.
 */
export async function cacheSettings(
  state: string,
  { taskQueue, values, encryption }: Pick<ResolvedConfig, 'taskQueue' | 'values' | 'encryption'>,
): Promise<void> {
  const path = cacheFile(state)
  const temporaryFile = `${path}.${process.pid}`
  const settings: CachedSettings = { taskQueue, store: values.store, currentKeyId: encryption?.currentKeyId }
  try {
    await makeFolder(dirname(path), 0o700)
    await writeFile(temporaryFile, JSON.stringify(settings), { mode: 0o600 })
    await rename(temporaryFile, path)
  } catch {
    // Without cached settings, the user can pass --config.
  }
}

/** The settings cached last; undefined when there are none, or they can't be read. */
export async function readCachedSettings(state: string): Promise<CachedSettings | undefined> {
  try {
    const { store, ...settings } = cachedSettingsSchema.parse(JSON.parse(await readFile(cacheFile(state), 'utf8')))
    return { ...settings, store: parseStore(store, dirname(state)) }
  } catch {
    return undefined
  }
}

function cacheFile(state: string): string {
  const name = createHash('sha256').update(state).digest('hex').slice(0, 32)
  return join(cacheDirectory(process.env), 'projects', `${name}.json`)
}
