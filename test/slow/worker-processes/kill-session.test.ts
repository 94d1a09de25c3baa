import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { TestSession } from '../../support/environment/test-session.js'
import { scheduledCount, waitForActivity } from '../../support/environment/waits.js'
import { noModel } from '../../support/script.js'

/** Creates a session on a worker process that can be killed, with its effects in the ledger. */
async function startSession(environment: NodeJS.ProcessEnv = {}) {
  const { env, ledger } = await startWithLedger(noModel, { environment })
  const session = TestSession.create(env)
  return { session, ledger, workers: env.workers }
}

const firstCell = 'done = [(await charge(name="a"))["done"]]'
const secondCell = 'done.append((await charge(name="b"))["done"])\nprint(done)'
const bothEffects = { outcome: { status: 'ok', output: "['a', 'b']\n" }, isNew: false, cell: 2 }

describeDocker('kill -9', () => {
  it('after kill -9 of the worker between two executions, the session and its container survive', async () => {
    const { session, ledger, workers } = await startSession()
    await session.execute(firstCell)
    await workers.kill()
    const executing = session.execute(secondCell) // waits for a worker
    await workers.start()
    expect(await executing).toMatchObject(bothEffects)
    expect(ledger.appliedNames).toEqual(['a', 'b'])
    expect(await scheduledCount(session.handle, 'session.open')).toBe(1)
    await session.close()
  })

  it('after kill -9 of the worker during an execution, the waiting client gets the result', async () => {
    const { session, ledger, workers } = await startSession()
    await session.execute(firstCell)
    ledger.holdReplies('b')
    const executing = session.execute(secondCell)
    await ledger.waitForRequests('b')
    await workers.kill()
    await workers.start()
    await ledger.waitForRequests('b', 2) // with the same key
    ledger.releaseReplies('b')
    expect(await executing).toMatchObject(bothEffects)
    expect(ledger.appliedNames).toEqual(['a', 'b'])
    expect(await scheduledCount(session.handle, 'session.open')).toBe(1)
    await session.close()
  })

  it('after kill -9 of the container between two executions, the variables are restored', async () => {
    const { session, ledger } = await startSession()
    await session.execute(firstCell)
    expect(await killContainersOf(session.handle.workflowId)).toBe(1)
    expect(await session.execute(secondCell)).toMatchObject(bothEffects)
    expect(ledger.appliedNames).toEqual(['a', 'b'])
    expect(ledger.requests).toHaveLength(2)
    expect(await scheduledCount(session.handle, 'session.open')).toBe(2)
    await session.close()
  })

  it('after kill -9 of the worker during a snapshot, only the snapshot is repeated', async () => {
    const { session, ledger, workers } = await startSession({ TEST_SNAPSHOT_STEPS: '2' })
    // Copying this value takes long: the library class lets the program define how it is copied.
    const slow = 'import types, time\nslow = types.SimpleNamespace()\n'
    const reduce = 'slow.__reduce_ex__ = lambda _: [time.sleep(2), (types.SimpleNamespace, ())][1]\n'
    await session.execute(slow + reduce + firstCell)
    await waitForActivity(session.handle, 'session.snapshot')
    await workers.kill()
    const executing = session.execute(secondCell)
    await workers.start()
    expect(await executing).toMatchObject(bothEffects)
    expect(ledger.appliedNames).toEqual(['a', 'b'])
    expect(await scheduledCount(session.handle, 'session.open')).toBe(1)
    await session.close()
  })
})
