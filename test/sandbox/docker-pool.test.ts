import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { SessionHost } from '../../src/sandbox/session-host.js'
import type { DockerBackend } from '../../src/sandbox/docker/index.js'
import { containerName } from '../../src/sandbox/docker/identity.js'
import type { DockerBackendOptions } from '../../src/sandbox/docker/options.js'
import { reap } from '../../src/worker/reaper.js'
import { describeDocker } from '../support/docker.js'
import { patient } from '../support/patient.js'
import { TestBackend, Talk, docker, expectHardened, never, obedientRunner, openTalk } from './docker-support.js'

/** One owner's sandboxes and pools; all of them are gone when the test has ended. */
class Place {
  readonly owner = `pool-${randomUUID()}`
  readonly #image: TestBackend

  constructor(image: TestBackend) {
    this.#image = image
    onTestFinished(async () => {
      await Promise.all(this.#backends.map((backend) => backend.close()))
      for (const { Id } of await this.containers()) await docker.getContainer(Id).remove({ force: true, v: true })
    })
  }

  readonly #backends: DockerBackend[] = []

  /** A backend whose pool is full. */
  async backend(options: DockerBackendOptions): Promise<DockerBackend> {
    const before = (await this.spares()).length
    const backend = this.#image.backend({ owner: this.owner, ...options })
    this.#backends.push(backend)
    await backend.ensureImage()
    await this.untilSpares(before + (options.warm ?? 0))
    return backend
  }

  spec(limits: Parameters<TestBackend['spec']>[0] = {}) {
    return { ...this.#image.spec(limits), namespace: this.owner }
  }

  containers() {
    return docker.listContainers({ all: true, filters: { label: [`ptc.owner=${this.owner}`] } })
  }

  /** Ids of the containers that have no session. */
  async spares(): Promise<readonly string[]> {
    const containers = await this.containers()
    return containers.filter(({ Names }) => Names[0]?.startsWith('/ptc-spare-')).map(({ Id }) => Id)
  }

  async untilSpares(count: number): Promise<readonly string[]> {
    return vi.waitFor(async () => {
      const running = (await this.containers()).filter(({ State }) => State === 'running').map(({ Id }) => Id)
      const spares = (await this.spares()).filter((id) => running.includes(id))
      expect(spares).toHaveLength(count)
      return spares
    }, patient)
  }
}

async function containerOf(spec: Parameters<typeof containerName>[0]): Promise<string> {
  return (await docker.getContainer(containerName(spec)).inspect()).Id
}

describeDocker('a warm pool', () => {
  const image = new TestBackend(obedientRunner)

  beforeAll(async () => {
    await image.backend().ensureImage()
  })
  afterAll(() => image.close())

  test('gives a session a container that runs already, and starts another', async () => {
    const place = new Place(image)
    const backend = await place.backend({ warm: 1 })
    const [spare] = await place.spares()
    const spec = place.spec()
    const talk = await openTalk(backend, spec)
    expect(await talk.ask('print("mine")')).toBe('mine')
    expect(await containerOf(spec)).toBe(spare)
    expect(await place.untilSpares(1)).not.toContain(spare)
    await talk.tell('raise SystemExit(4)')
    expect(await talk.connection.ended).toMatchObject({ reason: 'exited', exitCode: 4 })
  })

  test('hands each container out once, to twenty sessions of two workers at the same time', async () => {
    const place = new Place(image)
    const [one, two] = [await place.backend({ warm: 5 }), await place.backend({ warm: 5 })]
    const spares = await place.spares()
    const specs = Array.from({ length: 20 }, () => place.spec())
    const talks = await Promise.all(specs.map((spec, index) => openTalk(index % 2 === 0 ? one : two, spec)))
    const marks = await Promise.all(
      talks.map((talk, index) => talk.ask(`mark = globals().get("mark", ${index}); print(mark)`)),
    )
    expect(marks).toEqual(specs.map((_, index) => String(index)))
    const containers = await Promise.all(specs.map(containerOf))
    expect(new Set(containers).size).toBe(20)
    expect(containers.filter((container) => spares.includes(container))).toHaveLength(10)
    const users = await Promise.all(talks.map((talk) => talk.ask('import os; print(os.getuid())')))
    expect(new Set(users).size).toBe(20)
  })

  test('makes one sandbox of a session that two workers open at the same time, and loses no container', async () => {
    const place = new Place(image)
    const [one, two] = [await place.backend({ warm: 5 }), await place.backend({ warm: 5 })]
    const specs = Array.from({ length: 10 }, () => place.spec())
    await Promise.all(specs.flatMap((spec) => [one.open(spec, never), two.open(spec, never)]))
    expect(await one.listSandboxes(place.owner)).toHaveLength(10)
    await place.untilSpares(10)
    // One that was out for a claim while another took its place is removed.
    await expect.poll(() => place.containers()).toHaveLength(20)
  })

  test('does not hand out what has died, hangs or is gone', async () => {
    const place = new Place(image)
    const backend = await place.backend({ warm: 3 })
    const [dead = '', paused = '', gone = ''] = await place.spares()
    await Promise.all([
      docker.getContainer(dead).kill(),
      docker.getContainer(paused).pause(),
      docker.getContainer(gone).remove({ force: true }),
    ])
    const spec = place.spec()
    const talk = await openTalk(backend, spec)
    expect(await talk.ask('print(1)')).toBe('1')
    expect([dead, paused, gone]).not.toContain(await containerOf(spec))
    const fresh = await place.untilSpares(3)
    expect(fresh.filter((id) => [dead, paused, gone].includes(id))).toEqual([])
    await expect.poll(() => place.containers()).toHaveLength(4)
  })

  test('does not hand out what is past its time, and replaces it before', async () => {
    const place = new Place(image)
    const slow = await place.backend({ warm: 1 })
    const [old] = await place.spares()
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 9 * 60_000)
    const spec = place.spec()
    await slow.open(spec, never).finally(() => clock.mockRestore())
    expect(await containerOf(spec)).not.toBe(old)
    await slow.close()

    await place.backend({ warm: 1, unclaimedSeconds: 5 })
    const [first] = await place.spares()
    await vi.waitFor(async () => expect(await place.untilSpares(1)).not.toContain(first), patient)
  })

  test.each([
    ['other limits', { limits: { memoryBytes: 64 << 20 }, owner: undefined }],
    ['another owner', { limits: {}, owner: 'other' }],
  ])('leaves a session with %s to itself', async (_what, { limits, owner }) => {
    const place = new Place(image)
    const backend = await place.backend({ warm: 1 })
    const spares = await place.spares()
    const asked = place.spec(limits)
    const spec = { ...asked, namespace: owner === undefined ? asked.namespace : `${owner}-${asked.namespace}` }
    onTestFinished(() => image.backend().remove(spec))
    await backend.open(spec, never)
    const live = await docker.getContainer(containerName(spec)).inspect()
    expect(spares).not.toContain(live.Id)
    expect(live.HostConfig.Memory).toBe(spec.limits.memoryBytes)
    expect(await place.untilSpares(1)).toEqual(spares)
  })

  test('hardens what it starts exactly as any other sandbox (A23)', async () => {
    const place = new Place(image)
    const backend = await place.backend({ warm: 1 })
    const [spare = ''] = await place.spares()
    await expectHardened(await docker.getContainer(spare).inspect(), backend.image)
    const spec = place.spec()
    await backend.open(spec, never)
    const live = await docker.getContainer(containerName(spec)).inspect()
    expect(live.Id).toBe(spare)
    await expectHardened(live, backend.image)
  })

  test('leaves a session that another worker finds, lists and removes when its own is dead', async () => {
    const place = new Place(image)
    const spec = { ...place.spec(), session: 'späße/1', workflowId: `agent/${'x'.repeat(900)}` }
    const dead = await place.backend({ warm: 1 })
    const [spare] = await place.spares()
    await (await openTalk(dead, spec)).ask('kept = 17; print(0)')

    const heir = image.backend()
    const connection = await heir.attach(spec, never)
    if (connection === undefined) throw new Error('the sandbox is gone')
    expect(await new Talk(connection).ask('print(kept)')).toBe('17')
    const { namespace, session, epoch, workflowId } = spec
    expect(await heir.listSandboxes(place.owner)).toMatchObject([
      { id: { namespace, session, epoch }, workflowId, container: spare, running: true },
    ])
    await heir.remove(spec)
    expect(await heir.attach(spec, never)).toBeUndefined()
    expect(await heir.listSandboxes(place.owner)).toEqual([])
  })

  test('is closed with everything that has no session, also in the middle of filling', async () => {
    const place = new Place(image)
    const spec = place.spec()
    const full = await place.backend({ warm: 2 })
    await full.open(spec, never)
    await full.close()
    await full.close()
    const filling = image.backend({ warm: 5, owner: place.owner })
    await filling.ensureImage()
    await vi.waitFor(async () => expect((await place.spares()).length).toBeGreaterThan(0), patient)
    await filling.close()
    expect((await place.containers()).map(({ Id }) => Id)).toEqual([await containerOf(spec)])
  })

  test('needs to know whose sessions it is for', () => {
    expect(() => image.backend({ warm: 1 })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})

describeDocker('the reaper, with warm pools', () => {
  const image = new TestBackend(obedientRunner.replace('at your service', 'at the service of the reaper'))

  beforeAll(async () => {
    await image.backend().ensureImage()
  })
  afterAll(() => image.close())

  const minutes = (count: number): Date => new Date(Date.now() + count * 60_000)

  test("removes a session's container when its workflow is over, and no spare that is fresh", async () => {
    const place = new Place(image)
    const maker = await place.backend({ warm: 2 })
    const [alive, over] = [
      { ...place.spec(), workflowId: 'alive' },
      { ...place.spec(), workflowId: 'over' },
    ]
    await Promise.all([maker.open(alive, never), maker.open(over, never)])
    await place.untilSpares(2)
    const docker = image.backend()
    const host = new SessionHost({ namespace: place.owner, backends: [docker], tools: [] })
    const lines: string[] = []
    const isRunning = (id: string) => Promise.resolve(id === 'alive')
    await reap({ docker, host, owner: place.owner, isRunning, onProgress: (line) => lines.push(line) })
    expect((await docker.listSandboxes(place.owner)).map(({ workflowId }) => workflowId)).toEqual(['alive'])
    expect(lines).toEqual(['removed 1 sandboxes that nobody used any more'])
    await place.untilSpares(2)
  })

  test('removes the spares of a dead process after their time; a session made of one stays for all of its own', async () => {
    const place = new Place(image)
    const dead = await place.backend({ warm: 2, lifetimeSeconds: 3_600 })
    const spec = place.spec()
    await dead.open(spec, never)
    await place.untilSpares(2)
    const reaper = image.backend()
    const namespace = place.owner
    expect(await reaper.removeExpired({ namespace, now: minutes(9) })).toEqual([])
    expect(await place.spares()).toHaveLength(2)
    expect(await reaper.removeExpired({ namespace, now: minutes(11) })).toEqual([])
    expect(await place.containers()).toMatchObject([{ Id: await containerOf(spec), State: 'running' }])
    await place.untilSpares(2)

    const kept = { namespace, now: minutes(80), keep: () => true }
    expect(await reaper.removeExpired(kept)).toEqual([])
    const removed = await reaper.removeExpired({ namespace, now: minutes(80) })
    expect(removed.map(({ id }) => id.session)).toEqual([spec.session])
  })
})
