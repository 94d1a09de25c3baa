import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { requireTrusted } from '../platform/trusted-path.js'
import { hasErrorCode } from '../common/system-error.js'
import { makeFolder } from '../platform/make-folder.js'

const hint = 'Make a folder .ptc of your own beside your files, or set TEMPORAL_ADDRESS.'

/** @throws PtcError CONFIG_INVALID when the folder exists and belongs to another user */
export function requireOwnState(directory: string): void {
  try {
    requireTrusted(directory, directory, hint)
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT') && !hasErrorCode(error, 'ENOTDIR')) throw error
  }
}

/**
 * Creates the folder of a project's state for its user only, because the database has every argument and result. Git
 * ignores the folder.
 *
 * @throws PtcError CONFIG_INVALID when it belongs to another user
 */
export async function prepareStateDirectory(directory: string): Promise<void> {
  await makeFolder(directory, 0o700)
  requireOwnState(directory)
  // A folder that the user made may be open to others. The change fails for a folder of root or of the sudo user, which
  // stays unchanged.
  await chmod(directory, 0o700).catch(() => undefined)
  await writeFile(join(directory, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if (!hasErrorCode(error, 'EEXIST')) throw error
  })
}
