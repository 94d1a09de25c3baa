import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import type { SandboxBackend } from '../../../src/sandbox/backend.js'
import { createKubernetesBackend, type KubernetesBackendOptions } from '../../../src/sandbox/kubernetes/backend.js'
import { defaultLimits } from '../../../src/common/run/limits.js'
import { describeDependency } from '../docker/describe-dependency.js'
import { printProgress, requirementOf } from '../setup/optional-dependency.js'
import { builtClusterBinaries } from './cluster-binaries.js'
import type { ClusterOfRuns } from './describe-pods-of-runs.js'
import { OneNodeCluster, sandboxNamespace } from './one-node-cluster.js'

const variable = 'PTC_TEST_KUBERNETES'

/**
 * `describe` for tests on a real Kubernetes of one node, which is started for the file. PTC_TEST_KUBERNETES is
 * `required`, `auto` or `off`. With `auto` its programs are not built, because that takes long: then the tests are
 * skipped, with the reason in their name.
 */
export async function describeKubernetes(name: string, tests: (cluster: () => OneNodeCluster) => void): Promise<void> {
  const missing = await missingRequirement()
  if (missing !== undefined)
    printProgress(`SKIPPED: ${name}, on a real cluster: there is ${missing} (${variable}=required builds it, once)`)
  describeDependency(variable, name, missing, () => {
    let cluster: OneNodeCluster | undefined
    const previous = process.env['KUBECONFIG']
    beforeAll(async () => {
      cluster = await OneNodeCluster.start()
      process.env['KUBECONFIG'] = cluster.workerKubeconfig
    }, 60 * 60_000)
    afterAll(async () => {
      if (previous === undefined) delete process.env['KUBECONFIG']
      else process.env['KUBECONFIG'] = previous
      await cluster?.stop()
    }, 120_000)
    describe('on a cluster', () =>
      tests(() => {
        if (cluster === undefined) throw new Error('the cluster is not started yet')
        return cluster
      }))
  })
}

async function missingRequirement(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'no Linux'
  if (process.getuid?.() !== 0) return 'no root to start a cluster'
  if (inject('docker') !== 'available') return 'no Docker daemon with the sandbox image'
  for (const command of [
    'kubectl',
    'containerd',
    'ctr',
    'runc',
    'openssl',
    'ip',
    'flock',
    'go',
    '/usr/lib/cni/bridge',
  ]) {
    try {
      execFileSync('which', [command], { stdio: 'ignore' })
    } catch {
      return `no ${command}`
    }
  }
  const isBuilt = (await builtClusterBinaries()) !== undefined
  return isBuilt || requirementOf(variable) === 'required' ? undefined : 'no built Kubernetes in the cache'
}

/** The cluster for {@link describePodsOfRuns}. */
export function clusterOfRuns(cluster: OneNodeCluster): ClusterOfRuns {
  return {
    options: { namespace: sandboxNamespace, image: cluster.image },
    kubeconfig: cluster.workerKubeconfig,
    pods: () => cluster.sessionPods(),
    deletePod: (name) => cluster.deletePod(name),
  }
}

/** A backend as that of a worker. */
export function kubernetesBackend(
  cluster: OneNodeCluster,
  {
    options,
    ...more
  }: Partial<Omit<KubernetesBackendOptions, 'options'>> & {
    readonly options?: Partial<KubernetesBackendOptions['options']>
  } = {},
): SandboxBackend {
  return createKubernetesBackend({
    options: { namespace: sandboxNamespace, image: cluster.image, ...options },
    owner: 'test',
    limits: defaultLimits,
    ...more,
  })
}
