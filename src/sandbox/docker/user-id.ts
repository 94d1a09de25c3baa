import type { SandboxId } from '../backend.js'
import { digestOf } from './identity.js'

/** User ids a daemon can give: with a user namespace only 65,536 are mapped, and the host sees them shifted anyway. */
const userIds = { plain: { first: 100_000, count: 2_000_000_000 }, mapped: { first: 1_000, count: 60_000 } } as const

/**
 * A user id of the sandbox's own: what the kernel counts per user (keys, inotify watches, pending signals) is then not
 * shared with its neighbours.
 */
export function userId(id: SandboxId, userNamespace: boolean): number {
  const { first, count } = userNamespace ? userIds.mapped : userIds.plain
  return first + (digestOf(id).readUInt32BE(12) % count)
}
