import { expect, it, vi } from 'vitest'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { pollOptions } from '../../support/poll-options.js'
import { code, text, turn } from '../../support/script.js'

interface Readiness {
  readonly status: string
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly problem?: string }[]
}

/** Starts a worker process, and returns where it serves its health. */
async function startWorker(environment: NodeJS.ProcessEnv = {}) {
  const script = [turn(code('await charge(name="a")')), turn(text('done'))]
  const started = await startWithLedger(script, {
    environment: { PTC_HEALTH_ADDRESS: '127.0.0.1:0', ...environment },
  })
  const url = /health: (http:\S+)\/readyz/.exec(started.env.workers.first.log)?.[1] ?? ''
  return { ...started, url }
}

async function readiness(url: string) {
  const response = await fetch(`${url}/readyz`)
  return { code: response.status, body: (await response.json()) as Readiness }
}

describeDocker('a worker process with a health address', () => {
  it('is alive and ready, and not ready while it drains', async () => {
    const { env, ledger, url } = await startWorker()
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
