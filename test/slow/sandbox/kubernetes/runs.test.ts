import { clusterOfRuns, describeKubernetes } from '../../../support/kubernetes/describe-kubernetes.js'
import { describePodsOfRuns } from '../../../support/kubernetes/describe-pods-of-runs.js'

await describeKubernetes('runs with pods', (cluster) => describePodsOfRuns(() => clusterOfRuns(cluster())))
