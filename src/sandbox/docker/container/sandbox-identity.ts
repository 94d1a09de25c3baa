import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { SandboxId, SandboxSpec } from '../../backend.js'

/** The labels of containers of durable-ptc. A container without `ptc.namespace` is never touched. */
export const labelKeys = {
  namespace: 'ptc.namespace',
  workflow: 'ptc.workflow',
  /** A label for people. Code does not read it. */
  run: 'ptc.run',
  session: 'ptc.session',
  epoch: 'ptc.epoch',
  /** Unix seconds. After that any reaper may remove the container. */
  expires: 'ptc.expires',
  /**
   * The id of the pool, on a container of a warm pool. Labels never change, so the container name records the session.
   */
  pool: 'ptc.pool',
  /** The digest of the files, on a container that gets some before its start. */
  files: 'ptc.files',
  /** Unix seconds. After that any reaper may remove the container of a warm pool, if it has no session. */
  idleExpires: 'ptc.idle-expires',
} as const

/** A sandbox and the workflow to which it belongs. A session always belongs to the same workflow. */
type QualifiedSandboxId = SandboxId & Pick<SandboxSpec, 'workflowId'>

/** Returns the fixed part of a container name: readable as far as Docker allows, and unique by its digest. */
export function sandboxName(id: SandboxId): string {
  const readable = id.session.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 40)
  return `ptc-${readable}-e${id.epoch}-${sandboxDigest(id).toString('hex').slice(0, 12)}`
}

/**
 * Returns the container name of a sandbox. Its suffix encodes session and workflow, so that renaming a container of a
 * warm pool both claims it and records its owner, in one step. (Docker accepts names of thousands of characters.)
 */
export function containerName(sandbox: QualifiedSandboxId): string {
  const suffix = Buffer.from(JSON.stringify([sandbox.session, sandbox.workflowId])).toString('base64url')
  return `${sandboxName(sandbox)}.${suffix}`
}

/** Returns the labels of a container that is created for a session; `expires` is in unix seconds. */
export function containerLabels(spec: SandboxSpec, expires: number): Record<string, string> {
  return {
    [labelKeys.namespace]: spec.namespace,
    [labelKeys.workflow]: spec.workflowId,
    [labelKeys.run]: spec.runId,
    [labelKeys.session]: spec.session,
    [labelKeys.epoch]: String(spec.epoch),
    [labelKeys.expires]: String(expires),
    ...(spec.files && { [labelKeys.files]: spec.files.digest }),
  }
}

export type Labels = Readonly<Record<string, string>>

/** The owner of a container. */
export interface SandboxIdentity {
  readonly id: SandboxId
  readonly workflowId: string
}

/**
 * Reads the owner of a container from its name (without slash) and labels; undefined when the container has no session,
 * or does not belong to durable-ptc.
 */
export function parseIdentity(name: string, labels: Labels): SandboxIdentity | undefined {
  const namespace = labels[labelKeys.namespace]
  if (namespace === undefined) return undefined
  return labels[labelKeys.pool] === undefined
    ? identityFromLabels(namespace, labels)
    : identityFromName(namespace, name)
}

function identityFromLabels(namespace: string, labels: Labels): SandboxIdentity | undefined {
  const session = labels[labelKeys.session]
  const epoch = Number(labels[labelKeys.epoch] ?? Number.NaN)
  if (session === undefined || !Number.isSafeInteger(epoch)) return undefined
  return { id: { namespace, session, epoch }, workflowId: labels[labelKeys.workflow] ?? '' }
}

const namePattern = /-e(\d+)-[0-9a-f]{12}\.([A-Za-z0-9_-]+)$/
const nameSuffixSchema = z.tuple([z.string(), z.string()])

function identityFromName(namespace: string, name: string): SandboxIdentity | undefined {
  const [, epoch, suffix] = namePattern.exec(name) ?? []
  if (epoch === undefined || suffix === undefined) return undefined
  const parsed = nameSuffixSchema.safeParse(parseJson(Buffer.from(suffix, 'base64url').toString()))
  if (!parsed.success) return undefined
  const [session, workflowId] = parsed.data
  const id = { namespace, session, epoch: Number(epoch) }
  // The digest in the name also covers the namespace, so that a forged name is rejected.
  return containerName({ ...id, workflowId }) === name ? { id, workflowId } : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the SHA-256 of all properties that distinguish sandboxes. */
function sandboxDigest({ namespace, session, epoch }: SandboxId): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([namespace, session, epoch]))
    .digest()
}

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
