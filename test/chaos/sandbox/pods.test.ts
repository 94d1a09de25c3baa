import type { WorkflowHandle } from '@temporalio/client'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { completedReplies } from '../../support/environment/completed-replies.js'
import { expectReplays } from '../../support/environment/histories.js'
import { readableText } from '../../attacks/support/readable-text.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { scheduledCount, waitForActivity } from '../../support/environment/waits.js'
import { NetworkProxy } from '../../support/faults/network-proxy.js'
import { describeKubernetes } from '../../support/kubernetes/describe-kubernetes.js'
import {
  type ClusterProgram,
  type OneNodeCluster,
  sandboxNamespace,
} from '../../support/kubernetes/one-node-cluster.js'
import type { Ledger } from '../../support/ledger.js'
import { pollOptions } from '../../support/poll-options.js'
import { answerResult, code, turn } from '../../support/script.js'

/** Calls of each kind of effect, before and after the fault; `e` is in progress when it strikes. */
const cells = [
  `
import asyncio
done = [(await charge(name="a"))["done"]]
done += [each["done"] for each in await asyncio.gather(mark(name="b"), mark_once(name="c"), look(name="d"))]
`,
  `
import os
done.append((await send_once(name="e"))["done"])
while BUSY and not os.path.exists("/tmp/go"): pass
done += [each["done"] for each in await asyncio.gather(charge(name="f"), send_once(name="g"))]
done.append((await mark_once(name="h"))["done"])
done.append((await look(name="i"))["done"])
done.append((await mark(name="j"))["done"])
print(",".join(done))
`,
]
const effects = 'abcdefghij'.split('')

const scriptOf = (busy: boolean) => [
  ...cells.map((cell) => turn(code(cell.replace('BUSY', busy ? 'True' : 'False')))),
  answerResult,
]

/** States of the run in which a fault strikes. */
const moments = {
  'a call is in progress': {
    busy: false,
    reached: () => Promise.resolve(),
    goOn: async (ledger: Ledger) => ledger.releaseReplies('e'),
  },
  'code runs': {
    busy: true,
    reached: async (ledger: Ledger, handle: WorkflowHandle) => {
      ledger.releaseReplies('e')
      await waitForActivity(handle, 'session.step')
    },
    goOn: releaseCode,
  },
} as const

/** Ends code that runs until the file exists, in the pod that has it now. */
async function releaseCode(ledger: Ledger, cluster: OneNodeCluster, { workflowId }: WorkflowHandle): Promise<void> {
  const isReleased = async (): Promise<boolean> => {
    for (const pod of await cluster.podsOf(workflowId))
      await cluster.exec(pod, 'touch', '/tmp/go').catch(() => undefined) // it starts, or ends
    return ledger.requests.some(({ name }) => name === 'f')
  }
  await vi.waitUntil(isReleased, pollOptions)
}

interface Fault {
  readonly strike: (target: { cluster: OneNodeCluster; proxy: NetworkProxy; pod: string }) => Promise<void>
  /** What makes the cluster usable again, after the run has gone on. */
  readonly mend?: (cluster: OneNodeCluster, handle: WorkflowHandle) => Promise<void>
  /** What the history says about a lost pod. Undefined: the pod survives. */
  readonly cause?: RegExp
}

const deleted = /the cluster removed the pod: it was deleted/

const killed = (program: ClusterProgram): Fault => ({
  async strike({ cluster }) {
    await cluster.kill(program)
    await cluster.startProgram(program)
  },
})

const faults: Readonly<Record<string, Fault>> = {
  'its pod is deleted': { strike: ({ cluster, pod }) => cluster.deletePod(pod), cause: deleted },
  'its pod is deleted without a grace period': {
    strike: ({ cluster, pod }) => cluster.deletePod(pod, 0),
    cause: deleted,
  },
  'its node is drained': {
    strike: ({ cluster }) => cluster.drain(),
    async mend(cluster, { workflowId }) {
      // The next pod waits for a node.
      await expect.poll(() => cluster.podsOf(workflowId)).toHaveLength(1)
      await cluster.uncordon()
    },
    cause: /the cluster removed the pod: EvictionByEvictionAPI/,
  },
  'kill -9 of the kubelet': killed('kubelet'),
  'kill -9 of the API server': killed('api'),
  'kill -9 of containerd': killed('containerd'),
  'kill -9 of etcd': killed('etcd'),
  'all connections to the API server are reset': {
    async strike({ proxy }) {
      const { connections } = proxy.stats
      proxy.disconnect()
      proxy.reconnect()
      // The worker has attached again.
      await expect.poll(() => proxy.stats.connections).toBeGreaterThan(connections)
    },
  },
}

const rows = Object.keys(faults).flatMap((fault) =>
  Object.keys(moments).map((moment) => [fault, moment as keyof typeof moments] as const),
)

await describeKubernetes('a run with a pod', (cluster) => {
  let proxy: NetworkProxy
  let kubeconfig: string
  beforeAll(async () => {
    proxy = await NetworkProxy.start(await cluster().apiAddress())
    kubeconfig = await cluster().workerKubeconfigBy(proxy.address)
  })
  afterAll(() => proxy.close())

  it.each(rows)('F15: %s while %s: the run completes with each effect once', async (name, moment) => {
    const { strike, mend, cause } = faults[name] ?? expect.fail()
    const { busy, reached, goOn } = moments[moment]
    const options = { namespace: sandboxNamespace, image: cluster().image }
    const { env, ledger } = await startWithLedger(scriptOf(busy), {
      backend: 'kubernetes',
      environment: { TEST_KUBERNETES: JSON.stringify(options), KUBECONFIG: kubeconfig },
    })
    ledger.holdReplies('e')
    const handle = await env.startAgent()
    await ledger.waitForRequests('e')
    const [pod = expect.fail('the run has no pod')] = await cluster().podsOf(handle.workflowId)
    await reached(ledger, handle)
    await strike({ cluster: cluster(), proxy, pod })
    const [result] = await Promise.all([
      env.agentResult(handle),
      goOn(ledger, cluster(), handle),
      mend?.(cluster(), handle),
    ])
    expect(result).toMatchObject({ status: 'answered', answer: effects.join(','), turns: 3, toolCalls: 10 })
    expect(ledger.appliedNames).toEqual(effects)
    expect(ledger.requests).toHaveLength(effects.length)
    expect(completedReplies(env.api)).toBe(3)
    expect(await scheduledCount(handle, 'session.open')).toBe(cause === undefined ? 1 : 2)
    const history = readableText(await handle.fetchHistory())
    if (cause === undefined) expect(history).not.toContain('the cluster removed the pod')
    else expect(history).toMatch(cause)
    await expect.poll(() => cluster().podsOf(handle.workflowId)).toEqual([])
    await expectReplays(env.client, handle)
  })
})
