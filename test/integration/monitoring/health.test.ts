import { expect, it, onTestFinished, vi } from 'vitest'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { NetworkProxy } from '../../support/faults/network-proxy.js'
import { healthEnvironment, healthUrl, readiness } from '../../support/monitoring/readiness.js'
import { pollOptions } from '../../support/poll-options.js'
import { code, noModel, text, turn } from '../../support/script.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

const script = [turn(code('await charge(name="a")')), turn(text('done'))]

describeDocker('a worker process with a health address', () => {
  it('a worker process is alive and ready, and not ready while it drains', async () => {
    const { env, ledger } = await startWithLedger(script, { environment: healthEnvironment })
    const url = healthUrl(env.workers.first)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(await readiness(url)).toMatchObject({ code: 200, body: { status: 'ready' } })
    ledger.holdReplies('a')
    await env.startAgent()
    await ledger.waitForRequests('a')
    const worker = env.workers.first
    worker.sendSignal('SIGTERM')
    await vi.waitUntil(async () => (await readiness(url)).code === 503, pollOptions)
    const draining = await readiness(url)
    expect(draining.body.checks).toContainEqual({
      name: 'workers',
      ok: false,
      problem: expect.stringMatching(/DRAIN|STOP/),
    })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    ledger.releaseReplies('a')
    await worker.kill()
  })
})

it('a worker is not ready while Temporal does not answer, and ready again afterwards', async () => {
  const network = await NetworkProxy.start(sharedServer().address)
  onTestFinished(() => network.close())
  const environment = { ...healthEnvironment, TEMPORAL_ADDRESS: network.address }
  const { env } = await startWithLedger(noModel, { initialWorkers: [{ roles: ['tools'], environment }] })
  const url = healthUrl(env.workers.first)
  expect((await readiness(url)).code).toBe(200)
  network.disconnect()
  await vi.waitUntil(async () => (await readiness(url)).code === 503, pollOptions)
  const { checks } = (await readiness(url)).body
  expect(checks.filter(({ ok }) => !ok)).toEqual([{ name: 'temporal', ok: false, problem: expect.any(String) }])
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  network.reconnect()
  await vi.waitUntil(async () => (await readiness(url)).code === 200, pollOptions)
})
