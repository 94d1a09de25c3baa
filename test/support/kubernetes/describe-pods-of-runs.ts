import type { WorkflowHandle } from '@temporalio/client'
import { expect, it } from 'vitest'
import type { KubernetesOptions } from '../../../src/sandbox/kubernetes/options.js'
import { expectReplays } from '../environment/histories.js'
import { type LedgerEnvironment, startWithLedger } from '../environment/ledger-environment.js'
import { scheduledCount } from '../environment/waits.js'
import { answerResult, code, turn } from '../script.js'

/** A cluster, as the tests of whole runs see it. */
export interface ClusterOfRuns {
  readonly options: KubernetesOptions
  readonly kubeconfig: string
  /** The names of the pods of sessions. */
  readonly pods: () => Promise<readonly string[]>
  readonly deletePod: (name: string) => Promise<void>
}

const cells = [
  `
done = [(await charge(name="a"))["done"]]
done += [(await charge(name="b"))["done"]]
`,
  `
done.append((await charge(name="c"))["done"])
print(",".join(done))
`,
]
const script = [turn(code(cells[0] ?? '')), turn(code(cells[1] ?? '')), answerResult]

/** Tests of runs on Temporal whose sandboxes are pods. The workers are processes on two hosts. */
export function describePodsOfRuns(cluster: () => ClusterOfRuns): void {
  it('a run whose worker is killed continues in its pod on a worker of another host', async () => {
    const { env, ledger, handle } = await startRun(cluster())
    expect(await cluster().pods()).toHaveLength(1)
    await env.workers.replace({ hostId: 'host-b' })
    ledger.releaseReplies('b')
    await expectCompleted(cluster(), { env, ledger }, handle)
    // No step was repeated in another sandbox.
    expect(await scheduledCount(handle, 'session.open')).toBe(1)
  })

  it('a run whose worker and pod are lost is rebuilt on another host', async () => {
    const { env, ledger, handle } = await startRun(cluster())
    const [pod = ''] = await cluster().pods()
    await env.workers.kill()
    await cluster().deletePod(pod)
    await env.workers.start({ hostId: 'host-b' })
    ledger.releaseReplies('b')
    await expectCompleted(cluster(), { env, ledger }, handle)
    expect(await scheduledCount(handle, 'session.open')).toBe(2)
  })
}

/** A test of its own, because CI has it on a real cluster, too. */
export function itSurvivesTheDeletionOfItsPod(cluster: () => ClusterOfRuns): void {
  it('a run whose pod is deleted is rebuilt in another one', async () => {
    const { env, ledger, handle } = await startRun(cluster())
    const [pod = ''] = await cluster().pods()
    await cluster().deletePod(pod)
    ledger.releaseReplies('b')
    await expectCompleted(cluster(), { env, ledger }, handle)
    expect(await scheduledCount(handle, 'session.open')).toBe(2)
  })
}

/** Starts a run, which waits for the reply to its second call. */
async function startRun({ options, kubeconfig }: ClusterOfRuns) {
  const { env, ledger } = await startWithLedger(script, {
    backend: 'kubernetes',
    initialWorkers: [{ hostId: 'host-a' }],
    environment: { TEST_KUBERNETES: JSON.stringify(options), KUBECONFIG: kubeconfig },
  })
  ledger.holdReplies('b')
  const handle = await env.startAgent()
  await ledger.waitForRequests('b')
  return { env, ledger, handle }
}

async function expectCompleted(
  { pods }: ClusterOfRuns,
  { env, ledger }: LedgerEnvironment,
  handle: WorkflowHandle,
): Promise<void> {
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'a,b,c', turns: 3, toolCalls: 3 })
  // An effect is applied once, whatever is lost.
  expect(ledger.appliedNames).toEqual(['a', 'b', 'c'])
  await expect.poll(pods).toEqual([])
  await expectReplays(env.client, handle)
}
