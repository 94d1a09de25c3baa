import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { defaultLimits } from '../../../src/common/run/limits.js'
import type { SandboxBackend, SandboxSpec } from '../../../src/sandbox/backend.js'
import { readImageSource } from '../../../src/sandbox/docker/image/image-source.js'
import { createKubernetesBackend } from '../../../src/sandbox/kubernetes/backend.js'
import type { KubernetesOptions, KubernetesTimings } from '../../../src/sandbox/kubernetes/options.js'
import { runnerDirectory } from '../../../src/sandbox/runner-directory.js'
import { FakeCluster } from './fake-cluster.js'

export const neverAborted = new AbortController().signal

/** An imitated cluster for the tests of a file, and their backends, which end with each test. */
export function useFakeCluster() {
  const kubeconfigBefore = process.env['KUBECONFIG']
  let cluster: FakeCluster
  const backends: SandboxBackend[] = []

  beforeAll(async () => {
    cluster = await FakeCluster.start({ runnerDigest: readImageSource(runnerDirectory).digest })
  })

  beforeEach(() => {
    process.env['KUBECONFIG'] = cluster.kubeconfig
    cluster.refuse = () => undefined
    cluster.deniedRights = []
    cluster.statusOfNewPods = undefined
    cluster.report = {}
    cluster.requests.length = 0
    cluster.writeConfig()
  })

  afterEach(async () => {
    for (const { process } of cluster.pods.values()) process?.kill('SIGKILL')
    cluster.pods.clear()
    await Promise.all(backends.splice(0).map((backend) => backend.close()))
  })

  afterAll(async () => {
    if (kubeconfigBefore === undefined) delete process.env['KUBECONFIG']
    else process.env['KUBECONFIG'] = kubeconfigBefore
    await cluster.stop()
  })

  function newBackend(
    options: Partial<KubernetesOptions> = {},
    timings: Partial<KubernetesTimings> = {},
    warm = 0,
  ): SandboxBackend {
    const backend = createKubernetesBackend({
      options: { namespace: 'sandboxes', image: 'registry/sandbox:1', ...options },
      owner: 'test',
      limits: defaultLimits,
      warm,
      timings: { startMs: 5_000, ...timings },
    })
    backends.push(backend)
    return backend
  }

  function newSpec(): SandboxSpec {
    const session = `test-${randomUUID()}`
    const limits = defaultLimits
    return { namespace: 'test', session, epoch: 1, workflowId: 'workflow', runId: 'run', language: 'python', limits }
  }

  return { cluster: () => cluster, newBackend, newSpec }
}
