import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { startWithLedger, type LedgerEnvironment } from '../../support/environment/ledger-environment.js'
import { expectReplays } from '../../support/environment/histories.js'
import { freeAddress } from '../../support/monitoring/free-address.js'
import { scrape, total } from '../../support/monitoring/scrape.js'
import { fastPollOptions } from '../../support/poll-options.js'
import { code, text, turn } from '../../support/script.js'

const script = (tool: string) => [
  turn(code(`try:\n    print((await ${tool}(name="a"))["done"])\nexcept ToolError as error:\n    print(error.status)`)),
  turn(text('{{last_tool_result}}')),
]

/** SIGUSR2 blocks the main thread of the worker. The native threads still take workflow tasks. */
const blockOnSignal = fileURLToPath(new URL('../../support/block-on-signal.mjs', import.meta.url))

/** Longer than the test: only a takeover can end the attempt of a dead worker. */
const environment = { TEST_HEARTBEAT: 'long' }

/** Starts an agent whose call waits for the ledger, and returns once the call has reached it. */
async function startHeldCall(tool: string, options: object = {}) {
  const started: LedgerEnvironment = await startWithLedger(script(tool), { environment, ...options })
  started.ledger.holdReplies('a')
  const handle = await started.env.startAgent()
  await started.ledger.waitForRequests('a')
  return { ...started, handle }
}

describeDocker('attempts of a killed worker', () => {
  it('a worker that starts on the host of a killed worker retries its attempts at once', async () => {
    const { env, ledger, handle } = await startHeldCall('charge')
    const address = await freeAddress()
    await env.workers.replace({ environment: { PTC_METRICS_ADDRESS: address } })
    await ledger.waitForRequests('a', 2)
    expect(total(await scrape(address), 'ptc_takeover_attempts_total')).toBe(1)
    ledger.releaseReplies('a')
    expect(await env.agentResult(handle)).toMatchObject({ answer: 'a' })
    expect(ledger.appliedNames).toEqual(['a'])
    await expectReplays(env.client, handle)
  })

  it('another worker of the host of a killed worker retries its attempts at once', async () => {
    const initialWorkers = [{ roles: ['tools'] }, { roles: ['workflow', 'model', 'sandbox'] }]
    const { env, ledger, handle } = await startHeldCall('charge', { initialWorkers })
    await env.workers.start({ roles: ['tools'] })
    await env.workers.first.kill()
    await ledger.waitForRequests('a', 2)
    ledger.releaseReplies('a')
    expect(await env.agentResult(handle)).toMatchObject({ answer: 'a' })
  })

  it("an attempt of a killed worker with effect 'once' has an unknown outcome at once", async () => {
    const { env, ledger, handle } = await startHeldCall('send_once')
    await env.workers.replace()
    expect(await env.agentResult(handle)).toMatchObject({ answer: 'outcome_unknown' })
    expect(ledger.requests.filter(({ name }) => name === 'a')).toHaveLength(1)
  })
})

describeDocker('workflow tasks of a killed worker', () => {
  it('a workflow task of a killed worker is retried after its timeout, and the run continues', async () => {
    const { env, ledger, handle } = await startHeldCall('charge', { preload: blockOnSignal })
    const lastEvent = async () => ((await handle.fetchHistory()).events ?? []).at(-1)
    env.workers.first.sendSignal('SIGUSR2')
    await handle.signal('wake')
    await vi.waitUntil(async () => (await lastEvent())?.workflowTaskStartedEventAttributes, fastPollOptions)
    await env.workers.replace()
    await ledger.waitForRequests('a', 2)
    ledger.releaseReplies('a')
    expect(await env.agentResult(handle)).toMatchObject({ answer: 'a' })
    const events = (await handle.fetchHistory()).events ?? []
    expect(events.filter(({ workflowTaskTimedOutEventAttributes: timedOut }) => timedOut)).toHaveLength(1)
    await expectReplays(env.client, handle)
  })
})

describeDocker('attempts of a stopped worker', () => {
  it('the attempt of a stopped worker is left to its heartbeat', async () => {
    const { env, ledger, handle } = await startHeldCall('charge')
    env.workers.first.sendSignal('SIGSTOP')
    await env.workers.start()
    ledger.releaseReplies('a')
    env.workers.first.sendSignal('SIGCONT')
    expect(await env.agentResult(handle)).toMatchObject({ answer: 'a' })
    expect(ledger.requests.filter(({ name }) => name === 'a')).toHaveLength(1)
  })
})
