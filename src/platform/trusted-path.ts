import { lstatSync, statSync } from 'node:fs'
import { PtcError } from '../common/errors.js'

/**
 * Rejects a file or folder of another user, as git does (`safe.directory`). In a folder that others may write to, such
 * as a temporary one, another user could plant code or a server address.
 *
 * @param displayPath the path for messages
 * @throws PtcError CONFIG_INVALID
 */
export function requireTrusted(path: string, displayPath: string, hint: string): void {
  // Checks the link too: its owner chooses the target.
  for (const { uid } of [lstatSync(path), statSync(path)]) {
    if (isTrusted(uid)) continue
    throw new PtcError('CONFIG_INVALID', `${displayPath} belongs to another user (uid ${uid}) and is not used`, {
      hint,
    })
  }
}

/** Trusted users are this user, root, and the user who became root by sudo. Windows has no user ids. */
function isTrusted(uid: number): boolean {
  const own = process.geteuid?.()
  if (own === undefined || uid === own || uid === 0) return true
  return own === 0 && process.env['SUDO_UID'] === String(uid)
}
