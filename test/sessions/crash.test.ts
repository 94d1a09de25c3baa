import { fileURLToPath } from 'node:url'
import type { Client, WorkflowHandle } from '@temporalio/client'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { expect, it, onTestFinished } from 'vitest'
import { createPtcClient, type PtcClient } from '../../src/client/index.js'
import { sessionWorkflowId } from '../../src/client/sessions/name.js'
import { containersOf, killContainersOf, removeContainersOf } from '../support/containers.js'
import { describeDocker } from '../support/docker.js'
import { Ledger } from '../support/ledger.js'
import { activityRuns } from '../support/pending-activities.js'
import { connectClient, uniqueName } from '../support/temporal.js'
import { WorkerProcess } from '../support/worker-process.js'
import { replay } from '../support/replay.js'

const config = fileURLToPath(new URL('../fixtures/ledger.config.ts', import.meta.url))
const workflowBundle = { codePath: fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url)) }

Runtime.install({ logger: new DefaultLogger('WARN') })

/** A session whose worker is a process that can be killed, and whose effects somebody outside counts. */
class KillScene {
  readonly name = uniqueName('killed')
  readonly ptc: PtcClient
  readonly ledger: Ledger
  readonly run: WorkflowHandle
  readonly #taskQueue: string
  readonly #environment: Readonly<Record<string, string>>
  #worker: WorkerProcess | undefined

  private constructor(client: Client, ledger: Ledger, environment: Readonly<Record<string, string>>) {
    this.#environment = environment
    this.#taskQueue = uniqueName('sessions')
    this.ptc = createPtcClient({ client, taskQueue: this.#taskQueue })
    this.ledger = ledger
    this.run = client.workflow.getHandle(sessionWorkflowId(this.#taskQueue, this.name))
  }

  static async begin(environment: Readonly<Record<string, string>> = {}): Promise<KillScene> {
    const [client, ledger] = await Promise.all([connectClient(), Ledger.start()])
    const scene = new KillScene(client, ledger, environment)
    onTestFinished(async () => {
      await scene.run.terminate('the test has ended').catch(() => undefined) // most have completed
      await scene.#worker?.kill()
      await removeContainersOf(scene.run.workflowId)
      await Promise.all([ledger.close(), client.connection.close()])
    })
    await scene.startWorker()
    return scene
  }

  async startWorker(hostId = 'test-host'): Promise<void> {
    const environment = { LEDGER_URL: this.ledger.url, TEST_BACKEND: 'docker', ...this.#environment }
    this.#worker = await WorkerProcess.start({ config, taskQueue: this.#taskQueue, environment, hostId })
  }

  async killWorker(): Promise<void> {
    await this.#worker?.kill('SIGKILL')
  }

  async killContainer(): Promise<void> {
    expect(await killContainersOf(this.run.workflowId)).toBe(1)
  }

  execute(source: string) {
    return this.ptc.sessions.execute(this.name, source)
  }

  /** Settles when an activity of this type is running on a worker. */
  activityRuns(type: string): Promise<void> {
    return activityRuns(this.run, type)
  }

  async count(activity: string): Promise<number> {
    const { events = [] } = await this.run.fetchHistory()
    return (events ?? []).filter(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === activity,
    ).length
  }

  /** Ends it; then nothing may be left, and its history must replay. */
  async close(): Promise<void> {
    await this.ptc.sessions.close(this.name)
    expect(await containersOf(this.run.workflowId)).toEqual([])
    await replay({ workflowBundle }, await this.run.fetchHistory(), this.run.workflowId)
  }
}

const load = 'done = [(await charge(name="a"))["done"]]'
const more = 'done.append((await charge(name="b"))["done"])\nprint(done)'
const both = { outcome: { status: 'ok', output: "['a', 'b']\n" }, isNew: false, cell: 2 }

describeDocker('kill -9', () => {
  it('of the worker between two executions: the session and its container live on', async () => {
    const scene = await KillScene.begin()
    await scene.execute(load)
    await scene.killWorker()
    const executing = scene.execute(more) // waits for a worker
    await scene.startWorker()
    expect(await executing).toMatchObject(both)
    expect(scene.ledger.names).toEqual(['a', 'b'])
    expect(await scene.count('session.open')).toBe(1)
    await scene.close()
  })

  it('of the worker while something is executed: whoever waits gets the answer', async () => {
    const scene = await KillScene.begin()
    await scene.execute(load)
    scene.ledger.hold('b')
    const executing = scene.execute(more)
    await scene.ledger.askedFor('b')
    await scene.killWorker()
    await scene.startWorker()
    await scene.ledger.askedFor('b', 2) // with the same key
    scene.ledger.release('b')
    expect(await executing).toMatchObject(both)
    expect(scene.ledger.names).toEqual(['a', 'b'])
    expect(await scene.count('session.open')).toBe(1)
    await scene.close()
  })

  it('of the container between two executions: the variables come back, no call is made again', async () => {
    const scene = await KillScene.begin()
    await scene.execute(load)
    await scene.killContainer()
    expect(await scene.execute(more)).toMatchObject(both)
    expect(scene.ledger.names).toEqual(['a', 'b'])
    expect(scene.ledger.asked).toHaveLength(2)
    expect(await scene.count('session.open')).toBe(2)
    await scene.close()
  })

  it('of the worker while a snapshot is made: it is made again, and nothing else is', async () => {
    const scene = await KillScene.begin({ TEST_SNAPSHOT_STEPS: '2' })
    // What is copied takes long, in a way that a library class lets the program have.
    const slow = 'import types, time\nslow = types.SimpleNamespace()\n'
    const reduce = 'slow.__reduce_ex__ = lambda _: [time.sleep(2), (types.SimpleNamespace, ())][1]\n'
    await scene.execute(slow + reduce + load)
    await scene.activityRuns('session.snapshot')
    await scene.killWorker()
    const executing = scene.execute(more)
    await scene.startWorker()
    expect(await executing).toMatchObject(both)
    expect(scene.ledger.names).toEqual(['a', 'b'])
    expect(await scene.count('session.open')).toBe(1)
    await scene.close()
  })
})
