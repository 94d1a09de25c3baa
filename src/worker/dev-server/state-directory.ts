import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { requireTrusted } from '../trusted-path.js'
import { hasCode } from './file-lock.js'

const hint = 'Make a folder .ptc of your own beside your files, or set TEMPORAL_ADDRESS.'

/** @throws PtcError CONFIG_INVALID when the folder is there and belongs to another user */
export function requireOwnState(directory: string): void {
  try {
    requireTrusted(directory, directory, hint)
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR')) throw error
  }
}

/**
 * Makes the folder of a project's state, for its user only: the database has every argument and result. Git passes over it.
 *
 * @throws PtcError CONFIG_INVALID when it belongs to another user
 */
export async function prepareStateDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  requireOwnState(directory)
  // One of an earlier version is open to everybody; that of another trusted user is not ours to change.
  await chmod(directory, 0o700).catch(() => undefined)
  await writeFile(join(directory, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error
  })
}
