import { lstatSync, statSync } from 'node:fs'
import { PtcError } from '../common/errors.js'

/**
 * Refuses a file or folder of another user, as git does (`safe.directory`): in a folder that others may write to, such as a temporary
 * one, they could leave code or an address for us.
 *
 * @param shown the path as the user knows it
 * @throws PtcError CONFIG_INVALID
 */
export function requireTrusted(path: string, shown: string, hint: string): void {
  // The owner of a link chooses what it leads to.
  for (const { uid } of [lstatSync(path), statSync(path)]) {
    if (isTrusted(uid)) continue
    throw new PtcError('CONFIG_INVALID', `${shown} belongs to another user (uid ${uid}) and is not used`, { hint })
  }
}

/** Trusted are this user, root, who may do everything anyway, and the user who has become root by sudo. Windows has no such ids. */
function isTrusted(uid: number): boolean {
  const own = process.geteuid?.()
  if (own === undefined || uid === own || uid === 0) return true
  return own === 0 && process.env['SUDO_UID'] === String(uid)
}
