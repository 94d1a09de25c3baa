import type { SandboxId } from '../../backend.js'
import { sandboxDigest } from './sandbox-identity.js'

/** The ranges of user ids. A user namespace maps only 65,536 ids, and shifts them on the host anyway. */
const userIds = { plain: { first: 100_000, count: 2_000_000_000 }, mapped: { first: 1_000, count: 60_000 } } as const

/**
 * Returns a separate user id for each sandbox. The kernel limits keys, inotify watches and pending signals per user, so
 * sandboxes do not share these limits.
 */
export function userId(id: SandboxId, userNamespace: boolean): number {
  const { first, count } = userNamespace ? userIds.mapped : userIds.plain
  return first + (sandboxDigest(id).readUInt32BE(12) % count)
}
