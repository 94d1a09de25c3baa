import { z } from 'zod'
import { PtcError } from '../../common/errors.js'

const label = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of an object of Kubernetes')
const quantity = z.string().regex(/^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?$/, 'must be a quantity, such as 100m or 256Mi')

/** How pods of sandboxes are made. */
export interface KubernetesOptions {
  /** The namespace of the pods. It has nothing else in it, and a NetworkPolicy that denies everything. */
  readonly namespace: string
  /** The image of the sandboxes, in a registry that the nodes reach: one that `ptc image build` has made. */
  readonly image: string
  /** A context of the kubeconfig. Default: the current one. In a cluster without a kubeconfig: the account of the pod. */
  readonly context?: string
  /** The name of a RuntimeClass, such as that of gVisor or Kata. Default: the runtime of the nodes. */
  readonly runtimeClass?: string
  /** Labels of the nodes on which sandboxes run. Default: any node. */
  readonly nodeSelector?: Readonly<Record<string, string>>
  /** Taints that pods of sandboxes tolerate, as in Kubernetes. Default: none. */
  readonly tolerations?: readonly Toleration[]
  /** What the scheduler reserves for a sandbox; its limits are those of the run. Default: 100m and 128Mi. */
  readonly requests?: { readonly cpu?: string; readonly memory?: string }
  /** A seccomp profile of the nodes, relative to their folder of profiles. Default: that of the container runtime. */
  readonly seccompProfile?: string
}

interface Toleration {
  readonly key?: string
  readonly operator?: 'Exists' | 'Equal'
  readonly value?: string
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

const text = z.string().min(1).max(300)

export const kubernetesOptions = z.strictObject({
  namespace: label,
  image: text,
  context: text.exactOptional(),
  runtimeClass: label.exactOptional(),
  nodeSelector: z.record(z.string(), z.string()).exactOptional(),
  tolerations: z
    .array(
      z.strictObject({
        key: text.exactOptional(),
        operator: z.enum(['Exists', 'Equal']).exactOptional(),
        value: z.string().max(300).exactOptional(),
        effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).exactOptional(),
      }),
    )
    .exactOptional(),
  requests: z.strictObject({ cpu: quantity.exactOptional(), memory: quantity.exactOptional() }).exactOptional(),
  seccompProfile: text.exactOptional(),
}) satisfies z.ZodType<KubernetesOptions>

/** Times that tests shorten. */
export interface KubernetesTimings {
  /** Seconds until a sandbox ends by itself, after an owner has last sent a packet. */
  readonly leaseSeconds: number
  /** The same time for a sandbox whose runner has got nothing yet, such as one of the warm pool. */
  readonly idleLeaseSeconds: number
  /** Milliseconds until a pod must run: the cluster may start a node for it, and the node loads the image. */
  readonly startMs: number
  /** Milliseconds for a request to the API. */
  readonly requestMs: number
}

export const defaultTimings: KubernetesTimings = {
  leaseSeconds: 75 * 60,
  idleLeaseSeconds: 10 * 60,
  startMs: 120_000,
  requestMs: 15_000,
}

/** @throws PtcError CONFIG_INVALID */
export function parseOptions(options: unknown): KubernetesOptions {
  const parsed = kubernetesOptions.safeParse(options)
  if (parsed.success) return parsed.data
  throw new PtcError('CONFIG_INVALID', `sandbox.kubernetes: ${z.prettifyError(parsed.error)}`, {
    hint: 'The Kubernetes sandbox needs at least `namespace` and `image`.',
  })
}
