import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { SessionHost } from '../../../../src/sandbox/session/session-host.js'
import type { DockerBackend } from '../../../../src/sandbox/docker/index.js'
import { containerName } from '../../../../src/sandbox/docker/container/sandbox-identity.js'
import type { DockerBackendOptions } from '../../../../src/sandbox/docker/options.js'
import { reap } from '../../../../src/worker/resources/reaper.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { pollOptions } from '../../../support/poll-options.js'
import {
  DockerEnvironment,
  RunnerClient,
  docker,
  expectHardened,
  neverAborted,
  execRunner,
  openRunnerClient,
} from '../../../support/sandbox/docker-sandbox.js'

/** The sandboxes and pools of one namespace. All of them are removed when the test ends. */
class PoolEnvironment {
  readonly namespace = `pool-${randomUUID()}`
  readonly #image: DockerEnvironment

  constructor(image: DockerEnvironment) {
    this.#image = image
    onTestFinished(async () => {
      await Promise.all(this.#backends.map((backend) => backend.close()))
      for (const { Id } of await this.containers()) await docker.getContainer(Id).remove({ force: true, v: true })
    })
  }

  readonly #backends: DockerBackend[] = []

  /** Creates a backend and waits until its pool is full. */
  async backend(options: DockerBackendOptions): Promise<DockerBackend> {
    const before = (await this.idleContainers()).length
    const backend = this.#image.backend({ namespace: this.namespace, ...options })
    this.#backends.push(backend)
    await backend.ensureImage()
    await this.waitForIdleContainers(before + (options.warm ?? 0))
    return backend
  }

  spec(limits: Parameters<DockerEnvironment['spec']>[0] = {}) {
    return { ...this.#image.spec(limits), namespace: this.namespace }
  }

  containers() {
    return docker.listContainers({ all: true, filters: { label: [`ptc.namespace=${this.namespace}`] } })
  }

  /** The ids of the idle containers. */
  async idleContainers(): Promise<readonly string[]> {
    const containers = await this.containers()
    return containers.filter(({ Names }) => Names[0]?.startsWith('/ptc-idle-')).map(({ Id }) => Id)
  }

  async waitForIdleContainers(count: number): Promise<readonly string[]> {
    return vi.waitFor(async () => {
      const running = (await this.containers()).filter(({ State }) => State === 'running').map(({ Id }) => Id)
      const idleIds = (await this.idleContainers()).filter((id) => running.includes(id))
      expect(idleIds).toHaveLength(count)
      return idleIds
    }, pollOptions)
  }
}

async function containerIdOf(spec: Parameters<typeof containerName>[0]): Promise<string> {
  return (await docker.getContainer(containerName(spec)).inspect()).Id
}

describeDocker('a warm pool', () => {
  const image = new DockerEnvironment(execRunner)

  beforeAll(async () => {
    await image.backend().ensureImage()
  })
  afterAll(() => image.close())

  test('a warm pool hands out a running container, and starts another one', async () => {
    const environment = new PoolEnvironment(image)
    const backend = await environment.backend({ warm: 1 })
    const [idleId] = await environment.idleContainers()
    const spec = environment.spec()
    const client = await openRunnerClient(backend, spec)
    expect(await client.evaluate('print("mine")')).toBe('mine')
    expect(await containerIdOf(spec)).toBe(idleId)
    expect(await environment.waitForIdleContainers(1)).not.toContain(idleId)
    await client.send('raise SystemExit(4)')
    expect(await client.connection.ended).toMatchObject({ reason: 'exited', exitCode: 4 })
  })

  test('a warm pool hands each container out once, to twenty sessions of two workers at the same time', async () => {
    const environment = new PoolEnvironment(image)
    const [one, two] = [await environment.backend({ warm: 5 }), await environment.backend({ warm: 5 })]
    const idleIds = await environment.idleContainers()
    const specs = Array.from({ length: 20 }, () => environment.spec())
    const clients = await Promise.all(specs.map((spec, index) => openRunnerClient(index % 2 === 0 ? one : two, spec)))
    const marks = await Promise.all(
      clients.map((client, index) => client.evaluate(`mark = globals().get("mark", ${index}); print(mark)`)),
    )
    expect(marks).toEqual(specs.map((_, index) => String(index)))
    const containers = await Promise.all(specs.map(containerIdOf))
    expect(new Set(containers).size).toBe(20)
    expect(containers.filter((container) => idleIds.includes(container))).toHaveLength(10)
    const users = await Promise.all(clients.map((client) => client.evaluate('import os; print(os.getuid())')))
    expect(new Set(users).size).toBe(20)
  })

  test('a warm pool gives one sandbox to a session that two workers open at once, and loses no container', async () => {
    const environment = new PoolEnvironment(image)
    const [one, two] = [await environment.backend({ warm: 5 }), await environment.backend({ warm: 5 })]
    const specs = Array.from({ length: 10 }, () => environment.spec())
    await Promise.all(specs.flatMap((spec) => [one.open(spec, neverAborted), two.open(spec, neverAborted)]))
    expect(await one.listSandboxes(environment.namespace)).toHaveLength(10)
    await environment.waitForIdleContainers(10)
    // A container that was replaced during a claim that failed is removed.
    await expect.poll(() => environment.containers()).toHaveLength(20)
  })

  test('a warm pool does not hand out containers that are killed, paused or removed', async () => {
    const environment = new PoolEnvironment(image)
    const backend = await environment.backend({ warm: 3 })
    const [dead = '', paused = '', gone = ''] = await environment.idleContainers()
    await Promise.all([
      docker.getContainer(dead).kill(),
      docker.getContainer(paused).pause(),
      docker.getContainer(gone).remove({ force: true }),
    ])
    const spec = environment.spec()
    const client = await openRunnerClient(backend, spec)
    expect(await client.evaluate('print(1)')).toBe('1')
    expect([dead, paused, gone]).not.toContain(await containerIdOf(spec))
    const fresh = await environment.waitForIdleContainers(3)
    expect(fresh.filter((id) => [dead, paused, gone].includes(id))).toEqual([])
    await expect.poll(() => environment.containers()).toHaveLength(4)
  })

  test('a warm pool does not hand out an expiring container, and replaces it before its expiry', async () => {
    const environment = new PoolEnvironment(image)
    const slow = await environment.backend({ warm: 1 })
    const [old] = await environment.idleContainers()
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 9 * 60_000)
    const spec = environment.spec()
    await slow.open(spec, neverAborted).finally(() => clock.mockRestore())
    expect(await containerIdOf(spec)).not.toBe(old)
    await slow.close()

    await environment.backend({ warm: 1, maxIdleSeconds: 5 })
    const [first] = await environment.idleContainers()
    await vi.waitFor(async () => expect(await environment.waitForIdleContainers(1)).not.toContain(first), pollOptions)
  })

  test.each([
    ['other limits', { limits: { memoryBytes: 64 << 20 }, prefix: undefined }],
    ['another namespace', { limits: {}, prefix: 'other' }],
  ])('a warm pool gives no idle container to a session with %s', async (_what, { limits, prefix }) => {
    const environment = new PoolEnvironment(image)
    const backend = await environment.backend({ warm: 1 })
    const idleIds = await environment.idleContainers()
    const base = environment.spec(limits)
    const spec = { ...base, namespace: prefix === undefined ? base.namespace : `${prefix}-${base.namespace}` }
    onTestFinished(() => image.backend().remove(spec))
    await backend.open(spec, neverAborted)
    const live = await docker.getContainer(containerName(spec)).inspect()
    expect(idleIds).not.toContain(live.Id)
    expect(live.HostConfig.Memory).toBe(spec.limits.memoryBytes)
    expect(await environment.waitForIdleContainers(1)).toEqual(idleIds)
  })

  test('a warm pool hardens idle containers like all other containers (A23)', async () => {
    const environment = new PoolEnvironment(image)
    const backend = await environment.backend({ warm: 1 })
    const [idleId = ''] = await environment.idleContainers()
    await expectHardened(await docker.getContainer(idleId).inspect(), backend.image)
    const spec = environment.spec()
    await backend.open(spec, neverAborted)
    const live = await docker.getContainer(containerName(spec)).inspect()
    expect(live.Id).toBe(idleId)
    await expectHardened(live, backend.image)
  })

  test('after a claim from a warm pool, another worker can find, list and remove the sandbox', async () => {
    const environment = new PoolEnvironment(image)
    const spec = { ...environment.spec(), session: 'späße/1', workflowId: `agent/${'x'.repeat(900)}` }
    const dead = await environment.backend({ warm: 1 })
    const [idleId] = await environment.idleContainers()
    await (await openRunnerClient(dead, spec)).evaluate('kept = 17; print(0)')

    const nextWorker = image.backend()
    const connection = await nextWorker.attach(spec, neverAborted)
    if (connection === undefined) throw new Error('the sandbox is gone')
    expect(await new RunnerClient(connection).evaluate('print(kept)')).toBe('17')
    const { namespace, session, epoch, workflowId } = spec
    expect(await nextWorker.listSandboxes(environment.namespace)).toMatchObject([
      { id: { namespace, session, epoch }, workflowId, containerId: idleId, state: 'running' },
    ])
    await nextWorker.remove(spec)
    expect(await nextWorker.attach(spec, neverAborted)).toBeUndefined()
    expect(await nextWorker.listSandboxes(environment.namespace)).toEqual([])
  })

  test('closing a warm pool removes all idle containers, also while the pool is being filled', async () => {
    const environment = new PoolEnvironment(image)
    const spec = environment.spec()
    const full = await environment.backend({ warm: 2 })
    await full.open(spec, neverAborted)
    await full.close()
    await full.close()
    const filling = image.backend({ warm: 5, namespace: environment.namespace })
    await filling.ensureImage()
    await vi.waitFor(async () => expect((await environment.idleContainers()).length).toBeGreaterThan(0), pollOptions)
    await filling.close()
    expect((await environment.containers()).map(({ Id }) => Id)).toEqual([await containerIdOf(spec)])
  })

  test('a warm pool requires a namespace', () => {
    expect(() => image.backend({ warm: 1 })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})

describeDocker('the reaper, with warm pools', () => {
  const image = new DockerEnvironment(execRunner)

  beforeAll(async () => {
    await image.backend().ensureImage()
  })
  afterAll(() => image.close())

  const minutes = (count: number): Date => new Date(Date.now() + count * 60_000)

  test('the reaper removes a container whose workflow has ended, and no idle container before its expiry', async () => {
    const environment = new PoolEnvironment(image)
    const worker = await environment.backend({ warm: 2 })
    const [alive, ended] = [
      { ...environment.spec(), workflowId: 'alive' },
      { ...environment.spec(), workflowId: 'ended' },
    ]
    await Promise.all([worker.open(alive, neverAborted), worker.open(ended, neverAborted)])
    await environment.waitForIdleContainers(2)
    const docker = image.backend()
    const host = new SessionHost({ namespace: environment.namespace, backends: [docker], tools: [] })
    const lines: string[] = []
    const isRunning = (id: string) => Promise.resolve(id === 'alive')
    await reap({ docker, host, owner: environment.namespace, isRunning, onProgress: (line) => lines.push(line) })
    expect((await docker.listSandboxes(environment.namespace)).map(({ workflowId }) => workflowId)).toEqual(['alive'])
    expect(lines).toEqual(['removed 1 unused sandboxes'])
    await environment.waitForIdleContainers(2)
  })

  test('the reaper removes expired idle containers of a dead worker, but keeps a claimed one', async () => {
    const environment = new PoolEnvironment(image)
    const dead = await environment.backend({ warm: 2, lifetimeSeconds: 3_600 })
    const spec = environment.spec()
    await dead.open(spec, neverAborted)
    await environment.waitForIdleContainers(2)
    const reaper = image.backend()
    const namespace = environment.namespace
    expect(await reaper.removeExpired({ namespace, now: minutes(9) })).toEqual([])
    expect(await environment.idleContainers()).toHaveLength(2)
    expect(await reaper.removeExpired({ namespace, now: minutes(11) })).toEqual([])
    expect(await environment.containers()).toMatchObject([{ Id: await containerIdOf(spec), State: 'running' }])
    await environment.waitForIdleContainers(2)

    const kept = { namespace, now: minutes(80), isInUse: () => true }
    expect(await reaper.removeExpired(kept)).toEqual([])
    const removed = await reaper.removeExpired({ namespace, now: minutes(80) })
    expect(removed.map(({ id }) => id.session)).toEqual([spec.session])
  })
})
