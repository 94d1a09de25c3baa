import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { describePrivateDaemon } from '../../support/docker/describe-docker.js'
import { PrivateDockerDaemon } from '../../support/docker/private-daemon.js'
import { healthEnvironment, healthUrl, readiness } from '../../support/monitoring/readiness.js'
import { noModel } from '../../support/script.js'
import { expectReplays } from '../../support/environment/histories.js'
import { retryingActivities } from '../../support/environment/waits.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'

/** Longer than all attempts of a step together. */
const downtimeMs = 150_000

describePrivateDaemon('a Docker daemon that is down for minutes', () => {
  it('F14: a run with recorded steps waits for the next Docker daemon, and is rebuilt there', async () => {
    const daemon = await PrivateDockerDaemon.start()
    onTestFinished(() => daemon.close())
    vi.stubEnv('DOCKER_HOST', daemon.host)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { env, ledger } = await startWithLedger(noModel, { environment: healthEnvironment })
    const url = healthUrl(env.workers.first)
    ledger.holdReplies('b')
    const handle = await env.startProgram('print([(await charge(name=n))["done"] for n in "abc"])')
    await ledger.waitForRequests('b')
    await daemon.kill()
    ledger.releaseReplies('b')
    await delay(downtimeMs)
    const waiting = { activity: 'session.open', code: 'SANDBOX_BACKEND_DOWN' }
    await expect.poll(() => retryingActivities(handle)).toMatchObject([waiting])
    const { code, body } = await readiness(url)
    expect(code).toBe(503)
    expect(body.checks.filter(({ ok }) => !ok)).toMatchObject([{ name: 'sandbox', problem: expect.any(String) }])
    await daemon.startProcess()
    await expect.poll(() => readiness(url)).toMatchObject({ code: 200 })
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: "['a', 'b', 'c']\n" } })
    expect(ledger.appliedNames).toEqual(['a', 'b', 'c'])
    expect(ledger.requests).toHaveLength(3)
    await expectReplays(env.client, handle)
  })
})
