import { kubernetesConformance } from '../../../support/kubernetes/conformance-options.js'
import { describeConformance } from '../../../support/sandbox/describe-conformance.js'
import { describeKubernetes, kubernetesBackend } from '../../../support/kubernetes/describe-kubernetes.js'

await describeKubernetes('the Kubernetes sandbox', (cluster) => {
  describeConformance(kubernetesConformance(() => kubernetesBackend(cluster())))
})
