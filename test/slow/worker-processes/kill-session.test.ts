import { fileURLToPath } from 'node:url'
import type { Client, WorkflowHandle } from '@temporalio/client'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { expect, it, onTestFinished } from 'vitest'
import { createPtcClient, type PtcClient } from '../../../src/client/index.js'
import { sessionWorkflowId } from '../../../src/client/sessions/session-name.js'
import { containersOf, killContainersOf, removeContainersOf } from '../../support/environment/containers.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectReplays } from '../../support/environment/histories.js'
import { Ledger } from '../../support/ledger.js'
import { connectClient, uniqueName } from '../../support/temporal/shared-server.js'
import { WorkerProcess } from '../../support/environment/worker-process.js'
import { waitForActivity, scheduledCount } from '../../support/environment/waits.js'

const config = fileURLToPath(new URL('../../fixtures/ledger.config.ts', import.meta.url))

Runtime.install({ logger: new DefaultLogger('WARN') })

/** A session on a worker process that can be killed, with its effects in the ledger. */
class SessionOnWorkerProcess {
  readonly name = uniqueName('killed')
  readonly ptc: PtcClient
  readonly ledger: Ledger
  readonly handle: WorkflowHandle
  readonly #client: Client
  readonly #taskQueue: string
  readonly #environment: Readonly<Record<string, string>>
  #worker: WorkerProcess | undefined

  private constructor(client: Client, ledger: Ledger, environment: Readonly<Record<string, string>>) {
    this.#client = client
    this.#environment = environment
    this.#taskQueue = uniqueName('sessions')
    this.ptc = createPtcClient({ client, taskQueue: this.#taskQueue })
    this.ledger = ledger
    this.handle = client.workflow.getHandle(sessionWorkflowId(this.#taskQueue, this.name))
  }

  static async start(environment: Readonly<Record<string, string>> = {}): Promise<SessionOnWorkerProcess> {
    const [client, ledger] = await Promise.all([connectClient(), Ledger.start()])
    const session = new SessionOnWorkerProcess(client, ledger, environment)
    onTestFinished(async () => {
      await session.handle.terminate('the test has ended').catch(() => undefined) // most have completed
      await session.#worker?.kill()
      await removeContainersOf(session.handle.workflowId)
      await Promise.all([ledger.close(), client.connection.close()])
    })
    await session.startWorker()
    return session
  }

  async startWorker(hostId = 'test-host'): Promise<void> {
    const environment = { LEDGER_URL: this.ledger.url, TEST_BACKEND: 'docker', ...this.#environment }
    this.#worker = await WorkerProcess.start({ config, taskQueue: this.#taskQueue, environment, hostId })
  }

  async killWorker(): Promise<void> {
    await this.#worker?.kill('SIGKILL')
  }

  async killContainer(): Promise<void> {
    expect(await killContainersOf(this.handle.workflowId)).toBe(1)
  }

  execute(source: string) {
    return this.ptc.sessions.execute(this.name, source)
  }

  /** Settles when an activity of this type is running on a worker. */
  waitForActivity(type: string): Promise<void> {
    return waitForActivity(this.handle, type)
  }

  scheduledCount(activity: string): Promise<number> {
    return scheduledCount(this.handle, activity)
  }

  /** Closes the session. Expects that no container is left, and that its history replays. */
  async close(): Promise<void> {
    await this.ptc.sessions.close(this.name)
    expect(await containersOf(this.handle.workflowId)).toEqual([])
    await expectReplays(this.#client, this.handle)
  }
}

const firstCell = 'done = [(await charge(name="a"))["done"]]'
const secondCell = 'done.append((await charge(name="b"))["done"])\nprint(done)'
const bothEffects = { outcome: { status: 'ok', output: "['a', 'b']\n" }, isNew: false, cell: 2 }

describeDocker('kill -9', () => {
  it('of the worker between two executions: the session and its container survive', async () => {
    const session = await SessionOnWorkerProcess.start()
    await session.execute(firstCell)
    await session.killWorker()
    const executing = session.execute(secondCell) // waits for a worker
    await session.startWorker()
    expect(await executing).toMatchObject(bothEffects)
    expect(session.ledger.appliedNames).toEqual(['a', 'b'])
    expect(await session.scheduledCount('session.open')).toBe(1)
    await session.close()
  })

  it('of the worker during an execution: the waiting client gets the result', async () => {
    const session = await SessionOnWorkerProcess.start()
    await session.execute(firstCell)
    session.ledger.holdReplies('b')
    const executing = session.execute(secondCell)
    await session.ledger.waitForRequests('b')
    await session.killWorker()
    await session.startWorker()
    await session.ledger.waitForRequests('b', 2) // with the same key
    session.ledger.releaseReplies('b')
    expect(await executing).toMatchObject(bothEffects)
    expect(session.ledger.appliedNames).toEqual(['a', 'b'])
    expect(await session.scheduledCount('session.open')).toBe(1)
    await session.close()
  })

  it('of the container between two executions: the variables are restored, and no call is repeated', async () => {
    const session = await SessionOnWorkerProcess.start()
    await session.execute(firstCell)
    await session.killContainer()
    expect(await session.execute(secondCell)).toMatchObject(bothEffects)
    expect(session.ledger.appliedNames).toEqual(['a', 'b'])
    expect(session.ledger.requests).toHaveLength(2)
    expect(await session.scheduledCount('session.open')).toBe(2)
    await session.close()
  })

  it('of the worker during a snapshot: only the snapshot is repeated', async () => {
    const session = await SessionOnWorkerProcess.start({ TEST_SNAPSHOT_STEPS: '2' })
    // Copying this value takes long: the library class lets the program define how it is copied.
    const slow = 'import types, time\nslow = types.SimpleNamespace()\n'
    const reduce = 'slow.__reduce_ex__ = lambda _: [time.sleep(2), (types.SimpleNamespace, ())][1]\n'
    await session.execute(slow + reduce + firstCell)
    await session.waitForActivity('session.snapshot')
    await session.killWorker()
    const executing = session.execute(secondCell)
    await session.startWorker()
    expect(await executing).toMatchObject(bothEffects)
    expect(session.ledger.appliedNames).toEqual(['a', 'b'])
    expect(await session.scheduledCount('session.open')).toBe(1)
    await session.close()
  })
})
