import { expect, it, vi } from 'vitest'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { healthEnvironment, healthUrl, readiness } from '../../support/monitoring/readiness.js'
import { pollOptions } from '../../support/poll-options.js'
import { code, text, turn } from '../../support/script.js'

const script = [turn(code('await charge(name="a")')), turn(text('done'))]

describeDocker('a worker process with a health address', () => {
  it('is alive and ready, and not ready while it drains', async () => {
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
