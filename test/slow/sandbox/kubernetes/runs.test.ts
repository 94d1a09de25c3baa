import { describeKubernetes } from '../../../support/kubernetes/describe-kubernetes.js'
import { describePodsOfRuns } from '../../../support/kubernetes/describe-pods-of-runs.js'
import { sandboxNamespace } from '../../../support/kubernetes/one-node-cluster.js'

await describeKubernetes('runs with pods', (cluster) => {
  describePodsOfRuns(() => ({
    options: { namespace: sandboxNamespace, image: cluster().image },
    kubeconfig: cluster().workerKubeconfig,
    pods: async () => (await cluster().pods()).filter((name) => !name.includes('ptc-probe-')),
    async deletePod(name) {
      await cluster().kubectl('--namespace', sandboxNamespace, 'delete', name)
    },
  }))
})
