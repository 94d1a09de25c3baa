import { mkdirSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasErrorCode } from '../common/system-error.js'

/**
 * Creates a folder and its missing parents. An existing folder is not an error. `mkdir` with `recursive` never ends
 * when the file system answers ENOENT below an existing folder, such as /proc or a lost network disk.
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

/** {@link makeFolder}, for callers that can't wait. */
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
