import { type Stats, unwatchFile, watchFile } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'

/** Milliseconds between two looks at the files. Polling also sees files that an editor replaces. */
const intervalMs = 1_000

interface ConfigWatch {
  close(): void
}

/**
 * Calls back with the path of each source file of a loaded configuration that changes: the configuration, the files of
 * its folder that it imports, and `.env`.
 */
export function watchConfig(configFile: string, onChange: (path: string) => void): ConfigWatch {
  const files = [...new Set([configFile, join(dirname(configFile), '.env'), ...importedFiles(configFile)])]
  const listeners = files.map((path) => {
    const listener = (now: Stats, before: Stats): void => {
      if (now.mtimeMs !== before.mtimeMs || now.size !== before.size) onChange(path)
    }
    watchFile(path, { persistent: false, interval: intervalMs }, listener)
    return { path, listener }
  })
  return {
    close() {
      for (const { path, listener } of listeners) unwatchFile(path, listener)
    },
  }
}

/** Reads Node's module cache, in which the loader of configurations keeps the modules. */
function importedFiles(configFile: string): readonly string[] {
  const folder = dirname(configFile) + sep
  const loaded = Object.keys(createRequire(configFile).cache)
  return loaded.filter((path) => path.startsWith(folder) && !path.includes(`${sep}node_modules${sep}`))
}
