import { createHash } from 'node:crypto'
import type { V1ObjectMeta } from '@kubernetes/client-node'
import type { SandboxId, SandboxSpec } from '../../backend.js'

/** Labels of pods of durable-ptc. A pod without the first one is never touched. Code reads annotations and `sandbox`. */
export const labelKeys = {
  managedBy: 'app.kubernetes.io/managed-by',
  /** `session`, `idle`, `claim`, `program` or `probe`. */
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
  /** On a claim: the pod of the warm pool that is the sandbox. */
  pod: 'ptc.pod',
  podUid: 'ptc.pod-uid',
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

/** The labels of a pod, by its kind and the Temporal namespace. */
export function podLabels(
  kind: 'session' | 'idle' | 'claim' | 'program' | 'probe',
  namespace: string,
): Record<string, string> {
  return { [labelKeys.managedBy]: managedBy, [labelKeys.kind]: kind, [labelKeys.owner]: ownerLabel(namespace) }
}

export function podMetadata(spec: SandboxSpec): V1ObjectMeta {
  return {
    name: podName(spec),
    labels: { ...podLabels('session', spec.namespace), [labelKeys.sandbox]: sandboxLabel(spec) },
    annotations: {
      [annotationKeys.namespace]: spec.namespace,
      [annotationKeys.workflow]: spec.workflowId,
      [annotationKeys.run]: spec.runId,
      [annotationKeys.session]: spec.session,
      [annotationKeys.epoch]: String(spec.epoch),
    },
  }
}

/** A pod by its name and the id that no other pod of this name has. */
export interface PodRef {
  readonly name: string
  readonly uid: string
}

/** The claim of a sandbox on a pod of the warm pool. The cluster removes it with this pod. */
export function claimMetadata(spec: SandboxSpec, { name, uid }: PodRef): V1ObjectMeta {
  const { labels, annotations, ...metadata } = podMetadata(spec)
  return {
    ...metadata,
    labels: { ...labels, [labelKeys.kind]: 'claim' },
    annotations: { ...annotations, [annotationKeys.pod]: name, [annotationKeys.podUid]: uid },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }],
  }
}

/** The pod that a claim names; undefined for a pod that is a sandbox itself. */
export function claimedPod({ annotations }: V1ObjectMeta): PodRef | undefined {
  const { [annotationKeys.pod]: name, [annotationKeys.podUid]: uid } = annotations ?? {}
  return name === undefined || uid === undefined ? undefined : { name, uid }
}

function sandboxLabel(id: SandboxId): string {
  return sandboxDigest(id).toString('hex').slice(0, 32)
}

/** Whether the pod with the name of a sandbox belongs to it. */
export function isPodOf(metadata: V1ObjectMeta | undefined, id: SandboxId): boolean {
  const { labels = {} } = metadata ?? {}
  return labels[labelKeys.managedBy] === managedBy && labels[labelKeys.sandbox] === sandboxLabel(id)
}

/**
 * A user id of its own for each sandbox. The kernel counts processes, keys and pending signals for a user, and the limit
 * on processes is one of the user.
 */
export function userId(id: SandboxId): number {
  return 100_000 + (sandboxDigest(id).readUInt32BE(12) % 2_000_000_000)
}
