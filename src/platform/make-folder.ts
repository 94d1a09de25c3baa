import { mkdirSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasErrorCode } from '../common/system-error.js'

/**
 * Creates a folder and the missing ones above it; one that exists is fine. `mkdir` with `recursive` never ends where
 * the file system answers ENOENT below a folder that exists, such as /proc or a network disk that is gone.
 *
 * @throws Error of the operating system
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const make = (folder: string) => mkdir(folder, mode)
  try {
    await make(path).catch((thrown: unknown) => {
      if (!isMissingParent(thrown, path)) throw thrown
      return makeFolder(dirname(path), mode).then(() => make(path))
    })
  } catch (thrown) {
    if (!(await stat(path).catch(() => undefined))?.isDirectory()) throw thrown
  }
}

/** {@link makeFolder}, where nothing can wait. */
export function makeFolderSync(path: string, mode?: number): void {
  try {
    try {
      mkdirSync(path, mode)
    } catch (thrown) {
      if (!isMissingParent(thrown, path)) throw thrown
      makeFolderSync(dirname(path), mode)
      mkdirSync(path, mode)
    }
  } catch (thrown) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw thrown
  }
}

function isMissingParent(thrown: unknown, path: string): boolean {
  return hasErrorCode(thrown, 'ENOENT') && dirname(path) !== path
}
