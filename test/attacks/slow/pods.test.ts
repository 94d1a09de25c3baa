import { describe } from 'vitest'
import { describeKubernetes } from '../../support/kubernetes/describe-kubernetes.js'
import { sandboxNamespace, seccompProfile } from '../../support/kubernetes/one-node-cluster.js'
import { AttackEnvironment, type StartAttacks } from '../support/attack-environment.js'
import { escapeRows } from '../support/rows/escape.js'
import { protocolRows } from '../support/rows/protocol.js'
import { resourceRows } from '../support/rows/resources.js'

await describeKubernetes('a hostile program in a pod', (cluster) => {
  const start: StartAttacks = (options) =>
    AttackEnvironment.start({
      ...options,
      backend: 'kubernetes',
      pods: {
        options: { namespace: sandboxNamespace, image: cluster().image, seccompProfile },
        of: (workflowId) => cluster().podsOf(workflowId),
      },
    })

  describe('that exhausts resources', () => resourceRows(start, 'pod'))
  describe('that tries to escape', () => escapeRows(start, 'pod'))
  describe('that takes over its runner', () => protocolRows(start))
})
