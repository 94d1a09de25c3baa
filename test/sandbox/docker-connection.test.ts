import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { containerName } from '../../src/sandbox/docker/identity.js'
import type { DockerBackendOptions } from '../../src/sandbox/docker/index.js'
import { describeDocker } from '../support/docker.js'
import { TestBackend, docker, never, obedientRunner, openTalk } from './docker-support.js'

interface Line {
  request: string
  readonly client: Socket
  readonly daemon: Socket
}

/** The tests run where the daemon is. */
const daemonSocket = (process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace('unix://', '')

/** The way to the daemon, which can be cut or blocked: what a dying or hanging daemon looks like from here. */
class Way {
  readonly directory = mkdtempSync(join(tmpdir(), 'ptc-way-'))
  readonly path = join(this.directory, 'docker.sock')
  readonly #lines: Line[] = []
  #blocked = false
  readonly #server = createServer((client) => {
    client.on('error', () => {})
    if (this.#blocked) return
    const daemon = createConnection(daemonSocket)
    daemon.on('error', () => {})
    const line: Line = { request: '', client, daemon }
    this.#lines.push(line)
    client.on('data', (chunk: Buffer) => {
      // Connections are used again: the last request is the one that is under way.
      const begin = chunk.toString('latin1', 0, 200)
      if (/^(GET|POST|DELETE) /.test(begin)) line.request = begin
    })
    client.pipe(daemon)
    daemon.pipe(client)
    client.once('close', () => daemon.destroy())
    daemon.once('close', () => client.destroy())
  })

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.path, resolve))
  }

  /** Cuts the requests that begin like this, and tells how many. */
  cut(request: RegExp): number {
    const lines = this.#lines.filter((line) => !line.client.destroyed && request.test(line.request))
    for (const { client } of lines) client.destroy()
    return lines.length
  }

  /** Nobody listens any more, and what was open breaks. */
  async die(): Promise<void> {
    for (const { client } of this.#lines) client.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** New requests are taken and never answered. */
  block(): void {
    this.#blocked = true
  }

  close(): void {
    for (const { client, daemon } of this.#lines) {
      client.destroy()
      daemon.destroy()
    }
    this.#server.close()
    rmSync(this.directory, { recursive: true, force: true })
  }
}

describeDocker('a connection to a sandbox', () => {
  const obedient = new TestBackend(obedientRunner)

  beforeAll(async () => {
    await obedient.backend().ensureImage()
  })
  afterAll(() => obedient.close())

  /** A sandbox that is talked to by way of something breakable. */
  async function openByWay(options: DockerBackendOptions = {}) {
    const way = new Way()
    onTestFinished(() => way.close())
    await way.open()
    vi.stubEnv('DOCKER_HOST', `unix://${way.path}`)
    const backend = obedient.backend(options)
    vi.unstubAllEnvs()
    const spec = obedient.spec()
    return { way, spec, talk: await openTalk(backend, spec) }
  }

  test('is disconnected when the daemon dies, and the sandbox can be attached to once it is back', async () => {
    const { way, spec, talk } = await openByWay()
    await talk.ask('kept = 19; print(0)')
    await way.die()
    expect(await talk.connection.ended).toMatchObject({ reason: 'disconnected', exitCode: null })
    await expect(talk.tell('1')).rejects.toMatchObject({ code: 'SANDBOX_LOST' })
    expect(await obedient.backend().attach(spec, never)).toBeDefined()
  })

  test('is disconnected when the daemon dies while nobody reads what the sandbox says', async () => {
    const { way, talk } = await openByWay()
    await talk.tell('stdout.write(b"x" * (8 << 20))')
    await expect.poll(() => talk.connection.received).toHaveProperty('readableLength', expect.toSatisfy(isFull))
    await way.die()
    expect(await talk.connection.ended).toMatchObject({ reason: 'disconnected' })
  })

  test('outlives the loss of its wait request, and still learns of the exit', async () => {
    const { way, spec, talk } = await openByWay()
    await expect.poll(() => way.cut(/\/wait\?/)).toBe(1)
    expect(await talk.ask('print("still here")')).toBe('still here')
    await docker.getContainer(containerName(spec)).kill()
    expect(await talk.connection.ended).toMatchObject({ reason: 'exited', exitCode: 137 })
  })

  test('is disconnected, not exited, when only the stream breaks', async () => {
    const { way, talk } = await openByWay()
    expect(way.cut(/\/attach\?/)).toBe(1)
    expect(await talk.connection.ended).toMatchObject({ reason: 'disconnected', exitCode: null })
  })

  test('ends even if the daemon hangs when the sandbox is to be killed', async () => {
    // It must be opened within that, too.
    const { way, talk } = await openByWay({ callMs: 5_000 })
    way.block()
    // Pooled connections would still get through.
    way.cut(/^(?!.*(attach|wait)\?)/)
    await expect(talk.connection.kill()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    expect(await talk.connection.ended).toMatchObject({ reason: 'disconnected' })
  })

  test('is let go of without asking the daemon, which may hang', async () => {
    const { way, talk } = await openByWay({ callMs: 600_000 })
    way.block()
    await talk.connection.detach()
    await talk.connection.detach()
    expect(await talk.piece()).toBeUndefined()
  })
})

function isFull(bytes: number): boolean {
  return bytes >= 1 << 20
}
