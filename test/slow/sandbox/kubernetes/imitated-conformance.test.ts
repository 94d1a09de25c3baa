import { afterAll, beforeAll } from 'vitest'
import { defaultLimits } from '../../../../src/common/run/limits.js'
import { createDockerBackend } from '../../../../src/sandbox/docker/index.js'
import { createKubernetesBackend } from '../../../../src/sandbox/kubernetes/backend.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { FakeCluster } from '../../../support/kubernetes/fake-cluster.js'
import { conformanceOptions } from '../../../support/sandbox/conformance-columns.js'
import { describeConformance } from '../../../support/sandbox/describe-conformance.js'

/** The API is imitated; pods are containers with their settings. The same cases run on a real cluster, where there is one. */
describeDocker('the Kubernetes sandbox on a cluster that is imitated', () => {
  let cluster: FakeCluster
  const kubeconfigBefore = process.env['KUBECONFIG']

  beforeAll(async () => {
    const docker = createDockerBackend()
    const { image } = await docker.ensureImage()
    await docker.close()
    cluster = await FakeCluster.start({ image })
    process.env['KUBECONFIG'] = cluster.kubeconfig
  })
  afterAll(async () => {
    if (kubeconfigBefore === undefined) delete process.env['KUBECONFIG']
    else process.env['KUBECONFIG'] = kubeconfigBefore
    await cluster.stop()
  })

  const makeBackend = () =>
    createKubernetesBackend({
      options: { namespace: 'sandboxes', image: 'registry/sandbox:1' },
      owner: 'test',
      limits: defaultLimits,
    })
  describeConformance(conformanceOptions('dockerPython', makeBackend))
})
