import module from 'node:module'
import { join } from 'node:path'
import { cacheDirectory } from '../../platform/cache-directory.js'
import { makeFolderSync } from '../../platform/make-folder.js'
import { requireTrusted } from '../../platform/trusted-path.js'

/** The functions of Node 22 and newer, which the types of Node 20 do not have. */
const { enableCompileCache, flushCompileCache } = module as {
  readonly enableCompileCache?: (folder?: string) => unknown
  readonly flushCompileCache?: () => void
}

/**
 * Lets Node keep compiled code of modules that are loaded from now on. The folder is in the user's cache, not in the
 * temporary folder as by default, where another user could plant code. Without the folder, there is no cache.
 */
export function useCompileCache(): void {
  if (enableCompileCache === undefined) return
  try {
    const root = cacheDirectory(process.env)
    const folder = join(root, 'modules')
    makeFolderSync(folder, 0o700)
    for (const path of [root, folder]) requireTrusted(path, path, '')
    enableCompileCache(folder)
  } catch {
    // Modules are compiled at each start.
  }
}

/** Writes the cache now, for a process that may be killed. Node writes it when the process exits. */
export function writeCompileCache(): void {
  flushCompileCache?.()
}
