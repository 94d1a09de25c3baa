/**
 * The Kubernetes backend.
 *
 * Owns: pods of sandboxes in one namespace of a cluster, their names, labels and specification.
 * Boundary: implements `SandboxBackend`. This is the only folder that imports the client of Kubernetes. The cluster
 * schedules, limits and ends pods; resumable/ makes a connection out of attached ones that lose bytes.
 *
 * Invariants:
 * 1. There is at most one pod for a namespace, session and epoch: its name follows from these three, or an object with
 *    this name has claimed a pod of the warm pool. A new one is made when the cluster has removed the old one.
 * 2. A pod without the label of durable-ptc, or of another sandbox, is never touched.
 * 3. No pod of a session is made before a probe has shown, in a pod of the same specification, that code reaches no
 *    network and that its limits hold.
 * 4. A pod has no credential of the cluster, and none is written into its specification.
 * 5. A pod ends by itself: by the lease of its relay, and a day after its start by the cluster.
 * 6. A pod that can't start is a typed error: at once, where only people can mend it, else after `startMs`.
 *
 * Folders: cluster (requests, attached connections), pod (identity, specification, state), pool (idle pods and claims).
 */
import type { BackendDefinition } from '../define-backend.js'
import { type KubernetesOptions, parseOptions } from './options.js'

export { kubernetesOptions, type KubernetesOptions } from './options.js'

/**
 * The backend, in the form in which a configuration has a custom one.
 *
 * @param warm size of the warm pool
 * @throws PtcError CONFIG_INVALID
 */
export function kubernetesBackend(options: KubernetesOptions | undefined, warm = 0): BackendDefinition {
  const parsed = parseOptions(options)
  return {
    name: 'kubernetes',
    notice: `code runs in hardened pods of the namespace ${parsed.namespace}`,
    files: true,
    network: true,
    async create({ namespace: owner, limits, language }) {
      const { createKubernetesBackend } = await import('./backend.js')
      return createKubernetesBackend({ options: parsed, owner, limits, warm, language })
    },
  }
}
