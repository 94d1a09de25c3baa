import { conformanceOptions } from '../../../support/sandbox/conformance-columns.js'
import { describeConformance } from '../../../support/sandbox/describe-conformance.js'
import { describeKubernetes, kubernetesBackend } from '../../../support/kubernetes/describe-kubernetes.js'

await describeKubernetes('the Kubernetes sandbox', (cluster) => {
  describeConformance(conformanceOptions('dockerPython', () => kubernetesBackend(cluster())))
})
