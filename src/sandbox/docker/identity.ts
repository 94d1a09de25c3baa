import { createHash } from 'node:crypto'
import type { SandboxId, SandboxSpec } from '../backend.js'

/** The labels of every container of ours; nothing without `ptc.owner` is ever touched. */
export const label = {
  owner: 'ptc.owner',
  workflow: 'ptc.workflow',
  run: 'ptc.run',
  session: 'ptc.session',
  epoch: 'ptc.epoch',
  /** Unix seconds; afterwards anybody may remove the container. */
  expires: 'ptc.expires',
} as const

/** The one container name of a sandbox: readable as far as Docker allows, unique by its digest. */
export function containerName(id: SandboxId): string {
  const readable = id.session.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 40)
  return `ptc-${readable}-e${id.epoch}-${digest(id).toString('hex').slice(0, 12)}`
}

/** What a container tells about itself; `expires` in unix seconds. */
export function containerLabels(spec: SandboxSpec, expires: number): Record<string, string> {
  return {
    [label.owner]: spec.namespace,
    [label.workflow]: spec.workflowId,
    [label.run]: spec.runId,
    [label.session]: spec.session,
    [label.epoch]: String(spec.epoch),
    [label.expires]: String(expires),
  }
}

type Labels = Readonly<Record<string, string>>

/** True when these are the labels of exactly this sandbox. */
export function isOurs(labels: Labels, id: SandboxId): boolean {
  return (
    labels[label.owner] === id.namespace &&
    labels[label.session] === id.session &&
    labels[label.epoch] === String(id.epoch)
  )
}

/** The sandbox that a container's labels tell of; undefined when they are not whole. */
export function identityOf(labels: Labels): SandboxId | undefined {
  const namespace = labels[label.owner]
  const session = labels[label.session]
  const epoch = Number(labels[label.epoch] ?? Number.NaN)
  if (namespace === undefined || session === undefined || !Number.isSafeInteger(epoch)) return undefined
  return { namespace, session, epoch }
}

/** User ids a daemon can give: with a user namespace only 65,536 are mapped, and the host sees them shifted anyway. */
const userIds = { plain: { first: 100_000, count: 2_000_000_000 }, mapped: { first: 1_000, count: 60_000 } } as const

/**
 * A user id of the sandbox's own: what the kernel counts per user (keys, inotify watches, pending signals) is then not
 * shared with its neighbours.
 */
export function userId(id: SandboxId, userNamespace: boolean): number {
  const { first, count } = userNamespace ? userIds.mapped : userIds.plain
  return first + (digest(id).readUInt32BE(12) % count)
}

function digest({ namespace, session, epoch }: SandboxId): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([namespace, session, epoch]))
    .digest()
}
