import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Dockerode from 'dockerode'
import { afterAll, beforeAll, expect } from 'vitest'
import { defaultLimits, type Limits } from '../../../src/common/run/limits.js'
import type { SandboxConnection, SandboxSpec } from '../../../src/sandbox/backend.js'
import { runnerDirectory } from '../../../src/sandbox/runner-directory.js'
import { containerCreateOptions } from '../../../src/sandbox/docker/container/container-create-options.js'
import { createDockerBackend, type DockerBackend } from '../../../src/sandbox/docker/backend.js'
import type { DockerBackendOptions } from '../../../src/sandbox/docker/options.js'

/** A client of the daemon, with which a test inspects or breaks things without the backend. */
export const docker = new Dockerode()

/**
 * A runner that executes each line of its input (Python source in Base64); `stdin` and `stdout` are the raw streams.
 */
export const execRunner = `
import base64, sys
stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
print('ready', flush=True)
for line in stdin:
    exec(base64.b64decode(line))
    stdout.flush()
`

/** A backend with the project's own image, for all tests of a file. */
export function useDockerBackend(): DockerBackend {
  const backend = createDockerBackend()
  beforeAll(async () => {
    await backend.ensureImage()
  })
  afterAll(() => backend.close())
  return backend
}

/** Backends whose image has `script` as its runner, and is the built-in image otherwise. */
export class DockerEnvironment {
  readonly namespace = `test-${randomUUID()}`
  readonly #directory = mkdtempSync(join(tmpdir(), 'ptc-docker-'))
  readonly #backends: DockerBackend[] = []

  /** @param dockerfile replaces the built-in Dockerfile */
  constructor(script: string, dockerfile?: string) {
    mkdirSync(join(this.#directory, 'python'))
    for (const folder of ['image', 'dispatcher', 'javascript', 'relay']) {
      cpSync(join(runnerDirectory, folder), join(this.#directory, folder), { recursive: true })
    }
    if (dockerfile !== undefined) writeFileSync(join(this.#directory, 'image/Dockerfile'), dockerfile)
    // The namespace makes the image unique: another test file removes its own image when it ends.
    writeFileSync(join(this.#directory, 'python/runner.py'), `${script}# ${this.namespace}\n`)
  }

  /** Creates a backend for the same sandboxes, like that of another worker. */
  backend(options: DockerBackendOptions = {}): DockerBackend {
    const backend = createDockerBackend({ runnerDirectory: `${this.#directory}/`, ...options })
    this.#backends.push(backend)
    return backend
  }

  /** The spec of a new sandbox. */
  spec(limits: Partial<Limits> = {}): SandboxSpec {
    const session = `session-${randomUUID()}`
    return {
      namespace: this.namespace,
      session,
      epoch: 1,
      workflowId: 'wf',
      runId: 'run',
      language: 'python',
      limits: { ...defaultLimits, ...limits },
    }
  }

  /** Removes every container, the image and the files. */
  async close(): Promise<void> {
    const backend = this.backend()
    for (const { containerId } of await backend.listSandboxes(this.namespace)) {
      await docker.getContainer(containerId).remove({ force: true, v: true }).catch(ignoreRemoved)
    }
    await Promise.all(this.#backends.map((each) => each.close()))
    // There is no image when its build failed. The test has reported that.
    await docker
      .getImage(backend.image)
      .remove({ force: true })
      .catch(() => {})
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/** A signal that is never aborted, so that a test hangs when an operation has no timeout. */
export const neverAborted = new AbortController().signal
setMaxListeners(0, neverAborted)

/** A connection to the exec runner, with whole lines instead of chunks. */
export class RunnerClient {
  readonly connection: SandboxConnection
  readonly #chunks: AsyncIterator<Uint8Array>
  #unread = Buffer.alloc(0)

  constructor(connection: SandboxConnection) {
    this.connection = connection
    this.#chunks = connection.received[Symbol.asyncIterator]()
  }

  /** Runs Python without waiting for output. */
  async send(source: string): Promise<void> {
    await this.connection.send(Buffer.from(`${Buffer.from(source).toString('base64')}\n`))
  }

  /** Runs Python and returns the one line that it prints. */
  async evaluate(source: string): Promise<string> {
    await this.send(source)
    return this.readLine()
  }

  /** Reads the next line of output. */
  async readLine(): Promise<string> {
    for (;;) {
      const end = this.#unread.indexOf(0x0a)
      if (end >= 0) {
        const line = this.#unread.toString('utf8', 0, end)
        this.#unread = this.#unread.subarray(end + 1)
        return line
      }
      const { value, done } = await this.#chunks.next()
      if (done === true) throw new Error(`the sandbox sent no more after ${this.#unread.toString('utf8')}`)
      this.#unread = Buffer.concat([this.#unread, value])
    }
  }

  /** Reads the next chunk; undefined at the end. */
  async readChunk(): Promise<Uint8Array | undefined> {
    if (this.#unread.length > 0) {
      const chunk = this.#unread
      this.#unread = Buffer.alloc(0)
      return chunk
    }
    const { value, done } = await this.#chunks.next()
    return done === true ? undefined : value
  }
}

/** Compares all options of a live container with those of `containerCreateOptions`. */
export async function expectHardened(live: Dockerode.ContainerInspectInfo, image: string): Promise<void> {
  const seccomp = live.HostConfig.SecurityOpt.find((option: string) => option.startsWith('seccomp='))?.slice(8) ?? ''
  const expected = containerCreateOptions({
    image: (await docker.getImage(image).inspect()).Id,
    userId: Number(live.Config.User.split(':')[0]),
    labels: live.Config.Labels,
    language: 'python',
    limits: defaultLimits,
    seccomp,
  })
  const { HostConfig, NetworkDisabled, Labels, Cmd, ...config } = expected
  expect(live.Config).toMatchObject(config)
  expect(live.Config).toMatchObject({ NetworkDisabled, Labels })
  expect(live.Config.Cmd ?? []).toEqual(Cmd)
  // The daemon reports null for some empty lists.
  const liveHost = live.HostConfig as Record<string, unknown>
  const fields = { ...HostConfig, RestartPolicy: { Name: 'no', MaximumRetryCount: 0 } }
  for (const [field, value] of Object.entries(fields)) {
    expect(liveHost[field] ?? (Array.isArray(value) ? [] : liveHost[field]), field).toEqual(value)
  }
  expect(JSON.parse(seccomp)).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO' })
  expect(live.Mounts).toEqual([])
}

/** Opens a sandbox with the exec runner and waits until it is ready. */
export async function openRunnerClient(backend: DockerBackend, spec: SandboxSpec): Promise<RunnerClient> {
  const client = new RunnerClient(await backend.open(spec, neverAborted))
  await client.readLine()
  return client
}

/** Ignores that a sandbox was removed: the reaper of another test on this daemon removes ended sandboxes, too. */
function ignoreRemoved(thrown: unknown): void {
  const { statusCode } = thrown as { readonly statusCode?: number }
  if (statusCode !== 404 && statusCode !== 409) throw thrown
}
