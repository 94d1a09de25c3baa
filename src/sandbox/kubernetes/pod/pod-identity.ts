import { createHash } from 'node:crypto'
import type { V1ObjectMeta } from '@kubernetes/client-node'
import type { SandboxId, SandboxSpec } from '../../backend.js'

/** Labels of pods of durable-ptc. A pod without the first one is never touched. Code reads annotations and `sandbox`. */
export const labelKeys = {
  managedBy: 'app.kubernetes.io/managed-by',
  /** `session` or `probe`. */
  kind: 'ptc.kind',
  /** Digest of the Temporal namespace: labels can't have all its characters. */
  owner: 'ptc.owner',
  /** Digest of namespace, session and epoch. */
  sandbox: 'ptc.sandbox',
} as const

export const managedBy = 'durable-ptc'

const annotationKeys = {
  namespace: 'ptc.namespace',
  workflow: 'ptc.workflow',
  run: 'ptc.run',
  session: 'ptc.session',
  epoch: 'ptc.epoch',
} as const

function digestOf(...parts: readonly (string | number)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}

function sandboxDigest({ namespace, session, epoch }: SandboxId): Buffer {
  return digestOf(namespace, session, epoch)
}

export function ownerLabel(namespace: string): string {
  return digestOf(namespace).toString('hex').slice(0, 16)
}

/** The name of the pod of a sandbox: readable as far as Kubernetes allows, and unique by its digest. */
export function podName(id: SandboxId): string {
  const readable = id.session
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 32)
  return `ptc-${readable}-e${id.epoch}-${sandboxDigest(id).toString('hex').slice(0, 12)}`.replaceAll(/-+/g, '-')
}

export function podMetadata(spec: SandboxSpec): V1ObjectMeta {
  return {
    name: podName(spec),
    labels: {
      [labelKeys.managedBy]: managedBy,
      [labelKeys.kind]: 'session',
      [labelKeys.owner]: ownerLabel(spec.namespace),
      [labelKeys.sandbox]: sandboxDigest(spec).toString('hex').slice(0, 32),
    },
    annotations: {
      [annotationKeys.namespace]: spec.namespace,
      [annotationKeys.workflow]: spec.workflowId,
      [annotationKeys.run]: spec.runId,
      [annotationKeys.session]: spec.session,
      [annotationKeys.epoch]: String(spec.epoch),
    },
  }
}

/** Whether the pod with the name of a sandbox belongs to it. */
export function isPodOf(metadata: V1ObjectMeta | undefined, id: SandboxId): boolean {
  const { labels = {} } = metadata ?? {}
  return (
    labels[labelKeys.managedBy] === managedBy &&
    labels[labelKeys.sandbox] === sandboxDigest(id).toString('hex').slice(0, 32)
  )
}

/**
 * A user id of its own for each sandbox. The kernel counts processes, keys and pending signals for a user, and the limit
 * on processes is one of the user.
 */
export function userId(id: SandboxId): number {
  return 100_000 + (sandboxDigest(id).readUInt32BE(12) % 2_000_000_000)
}
