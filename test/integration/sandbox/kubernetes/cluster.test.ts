import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { defaultLimits } from '../../../../src/common/run/limits.js'
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
    try {
      await expect.poll(() => isUsable(), { interval: 500 }).toBe(false)
      const backend = kubernetesBackend(cluster())
      const { problems } = await backend.check()
      expect(problems).toMatchObject([{ code: 'SANDBOX_UNENFORCED', message: expect.stringContaining('reaches') }])
      const opening = backend.open(spec, new AbortController().signal)
      await expect(opening).rejects.toMatchObject({ code: 'SANDBOX_UNENFORCED' })
      await backend.close()
    } finally {
      await restore()
    }
    await expect.poll(() => isUsable(), { interval: 500 }).toBe(true)
  })

  async function isUsable(): Promise<boolean> {
    const backend = kubernetesBackend(cluster())
    try {
      return (await backend.check()).usable
    } finally {
      await backend.close()
    }
  }
})
