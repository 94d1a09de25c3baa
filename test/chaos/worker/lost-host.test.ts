import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { S3Store } from '../../../src/values/s3/s3-store.js'
import { randomKey } from '../../support/encryption.js'
import { temporaryFolder } from '../../support/folders.js'
import { s3Available, S3Server } from '../../support/s3/s3-server.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { code, noModel, text, turn } from '../../support/script.js'
import { listAll } from '../../support/values/conformance.js'
import { expectReplays } from '../../support/environment/histories.js'
import { waitForMissedHeartbeat, scheduledCount } from '../../support/environment/waits.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { completedReplies } from '../../support/environment/completed-replies.js'

const script = [
  turn(code('big = (await charge(name="v" * 200_000))["done"]\nprint(big)')),
  turn(code('small = (await charge(name="b"))["done"]\nprint(small, len(big), set(big))')),
  turn(text('it is {{last_tool_result}}')),
]

/** Kills all workers while code waits, waits for the missed heartbeat, and starts a worker on another host. */
async function startAndLoseHost(environment: NodeJS.ProcessEnv) {
  const { env, ledger } = await startWithLedger(script, {
    environment: { TEST_HOST_TIMEOUT: 'short', ...environment },
  })
  ledger.holdReplies('b')
  const handle = await env.startAgent()
  await ledger.waitForRequests('b')
  await env.workers.kill()
  ledger.releaseReplies('b')
  await waitForMissedHeartbeat(handle, 'charge')
  return { env, ledger, handle }
}

describeDocker('a host that is lost after local calls with effects', () => {
  it.each([
    ['docker', 'encrypted'],
    ['wasm', 'plain'],
  ] as const)('the run continues on another host with their results, in %s, %s', async (backend, payloads) => {
    const key = payloads === 'encrypted' ? randomKey() : undefined
    const store = { kind: 'local', directory: await temporaryFolder() } as const
    const { env, ledger } = await startWithLedger(noModel, {
      backend,
      store,
      ...(key && { encryption: { currentKeyId: 'key', key: () => key } }),
      environment: {
        TEST_HOST_TIMEOUT: 'short',
        TEST_VALUE_STORE: JSON.stringify(store),
        ...(key && { TEST_ENCRYPTION_KEY: key }),
      },
    })
    ledger.holdReplies('b')
    const handle = await env.startProgram(`
done = [(await mark_once(name="a"))["done"], (await mark(name="c"))["done"]]
try:
    await mark_once(name="b")
except ToolOutcomeUnknown:
    done.append("unknown")
done.append((await mark_once(name="d"))["done"])
print(done)`)
    await ledger.waitForRequests('b')
    await env.workers.kill()
    ledger.releaseReplies('b')
    await waitForMissedHeartbeat(handle, 'session.step')
    await env.workers.start({ hostId: 'another-host' })
    expect(await handle.result()).toMatchObject({
      outcome: { status: 'ok', output: "['a', 'c', 'unknown', 'd']\n" },
      toolCalls: 4,
    })
    expect(ledger.appliedNames).toEqual(['a', 'b', 'c', 'd'])
    const { turns } = await env.ptc.handle(handle.workflowId).tree()
    const statuses = turns[0]?.cells[0]?.calls.map(({ status }) => status)
    expect(statuses).toEqual(['ok', 'ok', 'outcome_unknown', 'ok'])
    await expectReplays(env.client, handle)
  })
})

const withAll = inject('docker') === 'available' && (await s3Available) !== undefined

describe.skipIf(!withAll)('another host, which shares no disk with the lost one', () => {
  it('F09: another host without a shared disk continues with values, conversation and journal in a bucket', async () => {
    const server = await S3Server.start()
    onTestFinished(() => server.close())
    const { bucket, prefix, endpoint, region, forcePathStyle } = server.settings('hosts/')
    const store = { kind: 's3', bucket, prefix, endpoint, region, forcePathStyle }
    const { env, ledger, handle } = await startAndLoseHost({ TEST_VALUE_STORE: JSON.stringify(store) })
    expect((await listAll(new S3Store(server.settings('hosts/')))).some(({ bytes }) => bytes > 200_000)).toBe(true)
    await env.workers.start({ hostId: 'another-host' })
    expect(await env.agentResult(handle)).toMatchObject({
      status: 'answered',
      answer: "it is b 200000 {'v'}",
      turns: 3,
      toolCalls: 2,
    })
    expect(ledger.appliedNames.map((name) => name.length)).toEqual([1, 200_000])
    expect(completedReplies(env.api)).toBe(3)
    expect(await scheduledCount(handle, 'session.open')).toBe(2)
    await expectReplays(env.client, handle)
  })

  it('F09: another host without a shared store fails the run, and names the missing value and its use', async () => {
    const [one, other] = await Promise.all([temporaryFolder(), temporaryFolder()])
    const { env, ledger, handle } = await startAndLoseHost({
      TEST_VALUE_STORE: JSON.stringify({ kind: 'local', directory: one }),
    })
    const otherStore = { TEST_VALUE_STORE: JSON.stringify({ kind: 'local', directory: other }) }
    await env.workers.start({ hostId: 'another-host', environment: otherStore })
    await expect(handle.result()).rejects.toMatchObject({
      cause: { cause: { type: 'VALUE_MISSING', message: expect.stringMatching(/[0-9a-f]{12}/) } },
    })
    expect(ledger.applied).toHaveLength(2)
  })
})
