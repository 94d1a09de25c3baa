import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Dockerode from 'dockerode'
import { afterAll, beforeAll, expect } from 'vitest'
import { defaultLimits, type Limits } from '../../src/common/limits.js'
import type { SandboxConnection, SandboxSpec } from '../../src/sandbox/backend.js'
import { runnerDirectory } from '../../src/sandbox/assets.js'
import { containerBody } from '../../src/sandbox/docker/container-body.js'
import { createDockerBackend, type DockerBackend } from '../../src/sandbox/docker/backend.js'
import type { DockerBackendOptions } from '../../src/sandbox/docker/options.js'

/** The daemon itself, for what a test must see or break behind the backend's back. */
export const docker = new Dockerode()

/** Runs each line it is sent (base64 of Python source); `stdin` and `stdout` are the raw streams. */
export const obedientRunner = `
import base64, sys
stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
print('at your service', flush=True)
for line in stdin:
    exec(base64.b64decode(line))
    stdout.flush()
`

/** A backend with the project's own image, for all tests of a file. */
export function sharedBackend(): DockerBackend {
  const backend = createDockerBackend()
  beforeAll(async () => {
    await backend.ensureImage()
  })
  afterAll(() => backend.close())
  return backend
}

/** A backend whose image has `script` for a runner: the project's own image in everything else. */
export class TestBackend {
  readonly namespace = `test-${randomUUID()}`
  readonly #directory = mkdtempSync(join(tmpdir(), 'ptc-docker-'))
  readonly #backends: DockerBackend[] = []

  /** @param dockerfile what its Dockerfile is instead of the project's */
  constructor(script: string, dockerfile?: string) {
    for (const folder of ['image', 'python']) mkdirSync(join(this.#directory, folder))
    for (const file of ['image/Dockerfile', 'image/seccomp.json']) {
      copyFileSync(join(runnerDirectory, file), join(this.#directory, file))
    }
    if (dockerfile !== undefined) writeFileSync(join(this.#directory, 'image/Dockerfile'), dockerfile)
    // An image of its own: that of another test file is removed when that one ends.
    writeFileSync(join(this.#directory, 'python/runner.py'), `${script}# ${this.namespace}\n`)
  }

  /** Another backend for the same sandboxes, as another worker would have it. */
  backend(options: DockerBackendOptions = {}): DockerBackend {
    const backend = createDockerBackend({ runnerDirectory: `${this.#directory}/`, ...options })
    this.#backends.push(backend)
    return backend
  }

  /** A sandbox that no other test has. */
  spec(limits: Partial<Limits> = {}): SandboxSpec {
    const session = `session-${randomUUID()}`
    return {
      namespace: this.namespace,
      session,
      epoch: 1,
      workflowId: 'wf',
      runId: 'run',
      limits: { ...defaultLimits, ...limits },
    }
  }

  /** Removes every container, the image and the files. */
  async close(): Promise<void> {
    const backend = this.backend()
    for (const { container } of await backend.listSandboxes(this.namespace)) {
      await docker.getContainer(container).remove({ force: true, v: true })
    }
    await Promise.all(this.#backends.map((each) => each.close()))
    // Not there when its build failed: that has been reported already.
    await docker
      .getImage(backend.image)
      .remove({ force: true })
      .catch(() => {})
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/** Never fires: what has no deadline of its own would show as a test that hangs. */
export const never = new AbortController().signal
setMaxListeners(0, never)

/** A connection as tests talk over it: whole answers instead of pieces. */
export class Talk {
  readonly connection: SandboxConnection
  readonly #pieces: AsyncIterator<Uint8Array>
  #unread = Buffer.alloc(0)

  constructor(connection: SandboxConnection) {
    this.connection = connection
    this.#pieces = connection.received[Symbol.asyncIterator]()
  }

  /** Has the obedient runner run this Python. */
  async tell(source: string): Promise<void> {
    await this.connection.send(Buffer.from(`${Buffer.from(source).toString('base64')}\n`))
  }

  /** Runs Python and gives the one line that it prints. */
  async ask(source: string): Promise<string> {
    await this.tell(source)
    return this.line()
  }

  /** What the sandbox says up to the next line break. */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#unread.indexOf(0x0a)
      if (end >= 0) {
        const line = this.#unread.toString('utf8', 0, end)
        this.#unread = this.#unread.subarray(end + 1)
        return line
      }
      const { value, done } = await this.#pieces.next()
      if (done === true) throw new Error(`the sandbox said no more after ${this.#unread.toString('utf8')}`)
      this.#unread = Buffer.concat([this.#unread, value])
    }
  }

  /** The next bytes, however few; undefined at the end. */
  async piece(): Promise<Uint8Array | undefined> {
    if (this.#unread.length > 0) {
      const piece = this.#unread
      this.#unread = Buffer.alloc(0)
      return piece
    }
    const { value, done } = await this.#pieces.next()
    return done === true ? undefined : value
  }
}

/** Compares a live container with the table of everything that hardens it, field by field. */
export async function expectHardened(live: Dockerode.ContainerInspectInfo, image: string): Promise<void> {
  const seccomp = live.HostConfig.SecurityOpt.find((option: string) => option.startsWith('seccomp='))?.slice(8) ?? ''
  const wanted = containerBody({
    image: (await docker.getImage(image).inspect()).Id,
    userId: Number(live.Config.User.split(':')[0]),
    labels: live.Config.Labels,
    limits: defaultLimits,
    seccomp,
  })
  const { HostConfig, NetworkDisabled, Labels, Cmd, ...config } = wanted
  expect(live.Config).toMatchObject(config)
  expect(live.Config).toMatchObject({ NetworkDisabled, Labels })
  expect(live.Config.Cmd ?? []).toEqual(Cmd)
  // The daemon says null for some empty lists.
  const liveHost = live.HostConfig as Record<string, unknown>
  const fields = { ...HostConfig, RestartPolicy: { Name: 'no', MaximumRetryCount: 0 } }
  for (const [field, value] of Object.entries(fields)) {
    expect(liveHost[field] ?? (Array.isArray(value) ? [] : liveHost[field]), field).toEqual(value)
  }
  expect(JSON.parse(seccomp)).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO' })
  expect(live.Mounts).toEqual([])
}

/** Opens a sandbox of an obedient runner and waits until it is ready. */
export async function openTalk(backend: DockerBackend, spec: SandboxSpec): Promise<Talk> {
  const talk = new Talk(await backend.open(spec, never))
  await talk.line()
  return talk
}
