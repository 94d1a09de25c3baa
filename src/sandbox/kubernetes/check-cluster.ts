import { messageOf, PtcError } from '../../common/errors.js'
import type { BackendCheck, BackendProblem } from '../backend.js'
import type { Cluster, Right } from './cluster/cluster.js'
import type { KubernetesOptions } from './options.js'

/** What this backend does; deploy/sandbox-pods.yaml grants it. */
const rights: readonly Right[] = [
  ...['create', 'get', 'list', 'watch', 'delete'].map((verb) => ({ verb, resource: 'pods' })),
  { verb: 'get', resource: 'pods', subresource: 'attach' },
  // From Kubernetes 1.35 on.
  { verb: 'create', resource: 'pods', subresource: 'attach' },
]

interface CheckOptions {
  readonly options: KubernetesOptions
  readonly cluster: () => Promise<Cluster>
  /** Lets the cluster check the pod of a session, without creating it. */
  readonly tryPod: (cluster: Cluster) => Promise<void>
  /** The problems that a pod finds. */
  readonly probe: () => Promise<readonly BackendProblem[]>
}

/** Never rejects. What comes later needs what comes before, so the first error ends it. */
export async function checkCluster({ options, cluster, tryPod, probe }: CheckOptions): Promise<BackendCheck> {
  const { namespace, image, runtimeClass } = options
  let summary = 'Kubernetes is not available'
  try {
    const pods = await cluster()
    summary = `Kubernetes ${await pods.version()}, namespace ${namespace}, image ${image}`
    if (runtimeClass !== undefined) summary += `, runtime class ${runtimeClass}`
    const missing = await missingRights(pods)
    if (missing.length > 0) return { usable: false, summary, problems: missing }
    await tryPod(pods)
    const problems = await probe()
    return { usable: problems.every(({ severity }) => severity !== 'error'), summary, problems }
  } catch (thrown) {
    return { usable: false, summary, problems: [problemOf(thrown)] }
  }
}

async function missingRights(pods: Cluster): Promise<readonly BackendProblem[]> {
  const allowed = await Promise.all(rights.map((right) => pods.isAllowed(right)))
  return rights.flatMap(({ verb, resource, subresource }, index) => {
    if (allowed[index] === true) return []
    const what = subresource === undefined ? resource : `${resource}/${subresource}`
    return {
      severity: 'error',
      code: 'SANDBOX_UNAVAILABLE',
      message: `the account may not ${verb} ${what} in the namespace ${pods.namespace}`,
      remedy: 'Apply deploy/sandbox-pods.yaml.',
    } as const
  })
}

function problemOf(thrown: unknown): BackendProblem {
  const known = PtcError.isInstance(thrown) ? thrown : undefined
  return {
    severity: 'error',
    message: messageOf(thrown),
    remedy: known?.hint ?? '',
    ...(known && { code: known.code }),
    ...(known?.code === 'SANDBOX_IMAGE_MISSING' && { kind: 'image' as const }),
  }
}
