import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { answerResult, code, turn } from '../../support/script.js'
import { expectReplays } from '../../support/environment/histories.js'
import { waitForActivity, waitForTakeover, scheduledCount } from '../../support/environment/waits.js'
import { containerCount, releaseCode } from '../../support/environment/containers.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { completedReplies } from '../../support/environment/completed-replies.js'

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
  it('F36: two workers of a host are attached when stopped code continues, and each effect happens once', async () => {
    const { env, ledger } = await startWithLedger(script)
    const { first } = env.workers
    ledger.holdReplies('c')
    const handle = await env.startAgent()
    await waitForActivity(handle, 'session.step')
    first.sendSignal('SIGSTOP')
    const second = await env.workers.start()
    await waitForTakeover(handle, 'session.step', second)
    first.sendSignal('SIGCONT')
    await releaseCode(handle)
    await ledger.waitForRequests('c')
    ledger.releaseReplies('c')
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'a,b,c', turns: 3, toolCalls: 3 })
    expect(ledger.appliedNames).toEqual(['a', 'b', 'c'])
    expect(completedReplies(env.api)).toBe(3)
    expect(await scheduledCount(handle, 'session.open')).toBe(1)
    expect(first.isRunning).toBe(true)
    expect(await containerCount(handle)).toBe(0)
    await expectReplays(env.client, handle)
  })

  it('F36: the late result of a stopped worker, while code waits for a tool, is ignored', async () => {
    const { env, ledger } = await startWithLedger(script)
    const { first } = env.workers
    ledger.holdReplies('b')
    const handle = await env.startAgent()
    await ledger.waitForRequests('b')
    first.sendSignal('SIGSTOP')
    await env.workers.start()
    await ledger.waitForRequests('b', 2)
    ledger.releaseReplies('b')
    // The tool request of the stopped worker was answered while it was stopped.
    first.sendSignal('SIGCONT')
    await releaseCode(handle)
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'a,b,c', turns: 3, toolCalls: 3 })
    expect(ledger.appliedNames).toEqual(['a', 'b', 'c'])
    expect(await scheduledCount(handle, 'session.open')).toBe(1)
    // Both workers execute tasks again.
    const next = await env.startAgent()
    await releaseCode(next)
    expect(await env.agentResult(next)).toMatchObject({ status: 'answered', answer: 'a,b,c' })
    expect(ledger.appliedNames).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
    for (const run of [handle, next]) {
      expect(await containerCount(run)).toBe(0)
      await expectReplays(env.client, run)
    }
  })
})
