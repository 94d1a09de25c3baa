import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { defaultLimits } from '../../../../src/common/run/limits.js'
import type { SandboxBackend } from '../../../../src/sandbox/backend.js'
import {
  clusterOfRuns,
  describeKubernetes,
  kubernetesBackend,
} from '../../../support/kubernetes/describe-kubernetes.js'
import { itSurvivesTheDeletionOfItsPod } from '../../../support/kubernetes/describe-pods-of-runs.js'

const spec = {
  namespace: 'test',
  session: `test-${randomUUID()}`,
  epoch: 1,
  workflowId: 'workflow',
  runId: 'run',
  language: 'python',
  limits: defaultLimits,
}

/** What CI runs on a real cluster. The other tests are in test/slow/sandbox/kubernetes. */
await describeKubernetes('the Kubernetes sandbox, in short', (cluster) => {
  itSurvivesTheDeletionOfItsPod(() => clusterOfRuns(cluster()))

  it('refuses a cluster in which pods reach the network', async () => {
    const restore = await cluster().routeNetwork()
    let backend: SandboxBackend | undefined
    try {
      // The container runtime takes the network of new pods from its file some moments later.
      const problems = async () => {
        await backend?.close()
        backend = kubernetesBackend(cluster())
        return (await backend.check()).problems
      }
      const refusal = { code: 'SANDBOX_UNENFORCED', message: expect.stringContaining('reaches') }
      await expect.poll(problems, { interval: 500 }).toMatchObject([refusal])
      const opening = backend?.open(spec, new AbortController().signal)
      await expect(opening).rejects.toMatchObject({ code: 'SANDBOX_UNENFORCED' })
    } finally {
      await backend?.close()
      await restore()
    }
  })
})
