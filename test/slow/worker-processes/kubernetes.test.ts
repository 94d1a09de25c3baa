import { afterAll, beforeAll, describe } from 'vitest'
import { readImageSource } from '../../../src/sandbox/docker/image/image-source.js'
import { runnerDirectory } from '../../../src/sandbox/runner-directory.js'
import {
  type ClusterOfRuns,
  describePodsOfRuns,
  itSurvivesTheDeletionOfItsPod,
} from '../../support/kubernetes/describe-pods-of-runs.js'
import { FakeCluster } from '../../support/kubernetes/fake-cluster.js'

/** The same tests run on a real cluster: test/slow/sandbox/kubernetes/runs.test.ts. */
describe('runs with pods of a cluster that is imitated', () => {
  let cluster: FakeCluster

  beforeAll(async () => {
    cluster = await FakeCluster.start({ runnerDigest: readImageSource(runnerDirectory).digest })
  })
  afterAll(() => cluster.stop())

  const clusterOfRuns = (): ClusterOfRuns => ({
    options: { namespace: 'sandboxes', image: 'registry/sandbox:1' },
    kubeconfig: cluster.kubeconfig,
    pods: () => Promise.resolve(cluster.sessionPods),
    async deletePod(name) {
      await fetch(`${cluster.url}/api/v1/namespaces/sandboxes/pods/${name}`, { method: 'DELETE' })
    },
  })
  describePodsOfRuns(clusterOfRuns)
  itSurvivesTheDeletionOfItsPod(clusterOfRuns)
})
