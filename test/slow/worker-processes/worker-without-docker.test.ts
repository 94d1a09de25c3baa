import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectReplays } from '../../support/environment/histories.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { scheduledCount } from '../../support/environment/waits.js'
import { pollOptions } from '../../support/poll-options.js'
import { noModel } from '../../support/script.js'

const noDocker = { environment: { DOCKER_HOST: 'unix:///nope.sock' } }

describeDocker('a run in Docker whose worker is killed', () => {
  it('a run in Docker waits while the workers of the host lack Docker, and is rebuilt when one has it', async () => {
    const environment = { TEST_BACKEND: 'auto', TEST_HOST_TIMEOUT: 'short' }
    const { env, ledger } = await startWithLedger(noModel, { environment })
    ledger.holdReplies('b')
    const handle = await env.startProgram('print([(await charge(name=n))["done"] for n in "abc"])')
    await ledger.waitForRequests('b')

    const worker = await env.workers.replace(noDocker)
    expect(worker.log).toContain('runs that use Docker wait until a worker with Docker runs')
    ledger.releaseReplies('b')
    const run = env.ptc.handle(handle.workflowId)
    await expect
      .poll(async () => (await run.tree()).unserved, pollOptions)
      .toMatchObject([{ taskQueue: `${env.taskQueue}.sandbox.docker`, role: 'sandbox', sandbox: 'docker' }])
    // New runs do not need Docker on this worker.
    const other = await env.startProgram('print("embedded")')
    expect(await other.result()).toMatchObject({ outcome: { status: 'ok', output: 'embedded\n' } })
    expect(await run.tree()).toMatchObject({ status: 'running' })

    await env.workers.start()
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: "['a', 'b', 'c']\n" } })
    expect(ledger.appliedNames).toEqual(['a', 'b', 'c'])
    expect(await scheduledCount(handle, 'session.open')).toBe(2)
    await expectReplays(env.client, handle)
  })
})
