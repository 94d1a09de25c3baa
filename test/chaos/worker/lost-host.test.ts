import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { S3Store } from '../../../src/values/s3/s3-store.js'
import { WorkerProcessEnvironment } from '../../support/environment/worker-process-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { s3Available, S3Server } from '../../support/s3/s3-server.js'
import { code, text, turn } from '../../support/script.js'
import { listAll } from '../../support/values/conformance.js'
import { expectReplays } from '../../support/environment/histories.js'
import { waitForMissedHeartbeat, scheduledCount } from '../../support/environment/waits.js'
import { removeContainersOf } from '../../support/environment/containers.js'

const script = [
  turn(code('big = (await charge(name="v" * 200_000))["done"]\nprint(big)')),
  turn(code('small = (await charge(name="b"))["done"]\nprint(small, len(big), set(big))')),
  turn(text('it is {{last_tool_result}}')),
]

/** Kills all workers while code waits, waits for the missed heartbeat, and starts a worker on another host. */
async function startAndLoseHost(environment: NodeJS.ProcessEnv) {
  const env = await WorkerProcessEnvironment.start(script, {
    environment: { TEST_HOST_TIMEOUT: 'short', ...environment },
  })
  env.ledger.holdReplies('b')
  const handle = await env.startAgent()
  onTestFinished(() => removeContainersOf(handle.workflowId))
  await env.ledger.waitForRequests('b')
  await env.killWorkers()
  env.ledger.releaseReplies('b')
  await waitForMissedHeartbeat(handle, 'charge')
  return { env, handle }
}

const withAll = inject('docker') === 'available' && (await s3Available) !== undefined

describe.skipIf(!withAll)('another host, which shares no disk with the lost one', () => {
  it('F09: continues with the large values, conversation and journal in the bucket', async () => {
    const server = await S3Server.start()
    onTestFinished(() => server.close())
    const { bucket, prefix, endpoint, region, forcePathStyle } = server.settings('hosts/')
    const store = { kind: 's3', bucket, prefix, endpoint, region, forcePathStyle }
    const { env, handle } = await startAndLoseHost({ TEST_VALUE_STORE: JSON.stringify(store) })
    expect((await listAll(new S3Store(server.settings('hosts/')))).some(({ bytes }) => bytes > 200_000)).toBe(true)
    await env.startWorker('another-host')
    expect(await env.agentResult(handle)).toMatchObject({
      status: 'answered',
      answer: "it is b 200000 {'v'}",
      turns: 3,
      toolCalls: 2,
    })
    expect(env.ledger.appliedNames.map((name) => name.length)).toEqual([1, 200_000])
    expect(env.completedReplies).toBe(3)
    expect(await scheduledCount(handle, 'session.open')).toBe(2)
    await expectReplays(env.client, handle)
  })

  it('F09: without a shared store fails the run, and reports which value is missing and what needed it', async () => {
    const [one, other] = await Promise.all([temporaryFolder(), temporaryFolder()])
    const { env, handle } = await startAndLoseHost({
      TEST_VALUE_STORE: JSON.stringify({ kind: 'local', directory: one }),
    })
    const otherStore = { TEST_VALUE_STORE: JSON.stringify({ kind: 'local', directory: other }) }
    await env.startWorker('another-host', otherStore)
    await expect(handle.result()).rejects.toMatchObject({
      cause: { cause: { type: 'VALUE_MISSING', message: expect.stringMatching(/[0-9a-f]{12}/) } },
    })
    expect(env.ledger.applied).toHaveLength(2)
  })
})
