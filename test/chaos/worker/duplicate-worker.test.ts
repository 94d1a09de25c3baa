import { expect, it } from 'vitest'
import { WorkerProcessEnvironment } from '../../support/environment/worker-process-environment.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { answerResult, code, turn } from '../../support/script.js'
import { expectReplays } from '../../support/environment/histories.js'
import { waitForActivity, waitForTakeover, scheduledCount } from '../../support/environment/waits.js'
import { containerCount, releaseCode } from '../../support/environment/containers.js'

const script = [
  turn(code('done = [(await charge(name="a"))["done"]]')),
  turn(
    code(`
import os
done.append((await charge(name="b"))["done"])
while not os.path.exists("/tmp/go"): pass
done.append((await charge(name="c"))["done"])
print(",".join(done))
`),
  ),
  answerResult,
]

describeDocker('two workers of one host, one of them stopped until the server considers it dead', () => {
  it('F36: while code runs: both are attached when it continues, and each effect happens once', async () => {
    const env = await WorkerProcessEnvironment.start(script)
    const [first] = env.workers
    env.ledger.holdReplies('c')
    const handle = await env.startAgent()
    await waitForActivity(handle, 'session.step', 3)
    first?.sendSignal('SIGSTOP')
    const second = await env.startWorker()
    await waitForTakeover(handle, 'session.step', second)
    first?.sendSignal('SIGCONT')
    await releaseCode(handle)
    await env.ledger.waitForRequests('c')
    env.ledger.releaseReplies('c')
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'a,b,c', turns: 3, toolCalls: 3 })
    expect(env.ledger.appliedNames).toEqual(['a', 'b', 'c'])
    expect(env.completedReplies).toBe(3)
    expect(await scheduledCount(handle, 'session.open')).toBe(1)
    expect(first?.isRunning).toBe(true)
    expect(await containerCount(handle)).toBe(0)
    await expectReplays(env.client, handle)
  })

  it('F36: while code waits for a tool: the late result of the stopped worker is ignored', async () => {
    const env = await WorkerProcessEnvironment.start(script)
    const [first] = env.workers
    env.ledger.holdReplies('b')
    const handle = await env.startAgent()
    await env.ledger.waitForRequests('b')
    first?.sendSignal('SIGSTOP')
    await env.startWorker()
    await env.ledger.waitForRequests('b', 2)
    env.ledger.releaseReplies('b')
    // The tool request of the stopped worker was answered while it was stopped.
    first?.sendSignal('SIGCONT')
    await releaseCode(handle)
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'a,b,c', turns: 3, toolCalls: 3 })
    expect(env.ledger.appliedNames).toEqual(['a', 'b', 'c'])
    expect(await scheduledCount(handle, 'session.open')).toBe(1)
    // Both workers execute tasks again.
    const next = await env.startAgent()
    await releaseCode(next)
    expect(await env.agentResult(next)).toMatchObject({ status: 'answered', answer: 'a,b,c' })
    expect(env.ledger.appliedNames).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
    for (const run of [handle, next]) {
      expect(await containerCount(run)).toBe(0)
      await expectReplays(env.client, run)
    }
  })
})
