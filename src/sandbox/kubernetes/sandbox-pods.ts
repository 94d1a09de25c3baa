import type { SandboxId } from '../backend.js'
import type { Cluster } from './cluster/cluster.js'
import { claimedPod, isPodOf, type PodRef, podName } from './pod/pod-identity.js'
import { goneState, type PodState, readPodState } from './pod/pod-state.js'

/** What the cluster has under the name of a sandbox. */
export type FoundSandbox =
  /** A pod of others. */
  | { readonly type: 'foreign' }
  | {
      readonly type: 'sandbox'
      /** The pod that runs: that with the name of the sandbox, or one of the warm pool that it has claimed. */
      readonly pod: PodRef
      readonly state: PodState
      /** The object with the name of the sandbox. */
      readonly named: PodRef
    }

export async function findSandbox(cluster: Cluster, id: SandboxId): Promise<FoundSandbox | undefined> {
  const name = podName(id)
  const found = await cluster.find(name)
  if (found === undefined) return undefined
  if (!isPodOf(found.metadata, id)) return { type: 'foreign' }
  const named = { name, uid: found.metadata?.uid ?? '' }
  const claimed = found.metadata && claimedPod(found.metadata)
  if (claimed === undefined) return { type: 'sandbox', pod: named, state: readPodState(found), named }
  const isClaimRemoved = found.metadata?.deletionTimestamp !== undefined
  return {
    type: 'sandbox',
    pod: claimed,
    state: isClaimRemoved ? goneState : await stateOf(cluster, claimed),
    named,
  }
}

/** The state of this pod. Another pod may have its name: one that a worker has created after its end. */
export async function stateOf(cluster: Cluster, { name, uid }: PodRef): Promise<PodState> {
  const pod = await cluster.find(name)
  return pod?.metadata?.uid === uid ? readPodState(pod) : goneState
}

/** Removes a sandbox, and its claim after it. Idempotent. */
export async function removeSandbox(
  cluster: Cluster,
  { pod, named }: Extract<FoundSandbox, { type: 'sandbox' }>,
): Promise<void> {
  await cluster.delete(pod.name, pod.uid)
  if (named.uid !== pod.uid) await cluster.delete(named.name, named.uid)
}
