import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Dockerode from 'dockerode'
import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { gvisorRuntime } from './gvisor.js'

const startMs = 120_000

export interface OwnDaemonOptions {
  /** Its containers live on without it. */
  readonly liveRestore?: boolean
  /** An existing folder for its images and containers, on a small disk for one; default: one that is removed with it. */
  readonly dataRoot?: string
}

/** A Docker daemon of a test's own, with gVisor and checkpoints: to be killed and started again, and looked into. Needs root. */
export class OwnDaemon {
  readonly #root = mkdtempSync(join(tmpdir(), 'ptc-dockerd-'))
  readonly #data: string
  readonly #docker: Dockerode
  /** The machine's own daemon. */
  readonly #machine = new Dockerode()
  #process: ChildProcess | undefined

  private constructor({ liveRestore = false, dataRoot }: OwnDaemonOptions) {
    this.#data = dataRoot ?? join(this.#root, 'data')
    this.#docker = new Dockerode({ socketPath: join(this.#root, 'docker.sock') })
    const configuration = {
      experimental: true,
      'live-restore': liveRestore,
      // No network of its own: this daemon must not meddle with that of another.
      bridge: 'none',
      iptables: false,
      'data-root': this.#data,
      'exec-root': join(this.#root, 'exec'),
      pidfile: join(this.#root, 'docker.pid'),
      hosts: [this.host],
      runtimes: { [gvisorRuntime]: { path: gvisorRuntime, runtimeArgs: ['--network=none'] } },
    }
    writeFileSync(join(this.#root, 'daemon.json'), JSON.stringify(configuration))
  }

  /** Starts one that has the sandbox image of the machine's own. */
  static async start(options: OwnDaemonOptions = {}): Promise<OwnDaemon> {
    const daemon = new OwnDaemon(options)
    try {
      await daemon.startAgain()
      await daemon.loadImage()
    } catch (error) {
      await daemon.close()
      throw error
    }
    return daemon
  }

  /** For DOCKER_HOST. */
  get host(): string {
    return `unix://${join(this.#root, 'docker.sock')}`
  }

  /** Where it keeps all of one container, its checkpoints too. */
  directoryOf(container: string): string {
    return join(this.#data, 'containers', container)
  }

  /** The sandbox image, from the machine's own daemon. */
  async loadImage(): Promise<void> {
    const image = await this.#machine.getImage(sandboxImage()).get()
    const loading = await this.#docker.loadImage(image)
    await new Promise((resolve, reject) => {
      this.#docker.modem.followProgress(loading, (error) => (error ? reject(error) : resolve(undefined)))
    })
  }

  async removeImage(): Promise<void> {
    await this.#docker.getImage(sandboxImage()).remove({ force: true })
  }

  async restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#stop(signal)
    await this.startAgain()
  }

  /** kill -9; without live-restore its containers are lost, whenever it comes back. */
  async kill(): Promise<void> {
    await this.#stop('SIGKILL')
  }

  /** It hangs: takes requests, and answers none until it is let {@link goOn}. */
  hang(): void {
    this.#process?.kill('SIGSTOP')
  }

  goOn(): void {
    this.#process?.kill('SIGCONT')
  }

  /** kill -9 of the containerd that it keeps; it starts the next by itself, and that has happened when this settles. */
  async killContainerd(): Promise<void> {
    const pid = this.#containerdPid()
    if (pid === undefined) throw new Error('this daemon has no containerd')
    process.kill(pid, 'SIGKILL')
    for (const deadline = Date.now() + startMs; ; await sleep(50)) {
      const next = this.#containerdPid()
      if (next !== undefined && next !== pid && isProcessOf(next, this.#root)) return
      if (Date.now() > deadline) throw new Error('containerd does not come back')
    }
  }

  /** kill -9 of what stands between containerd and one container. */
  killShim(container: string): void {
    const shims = readdirSync('/proc').filter((pid) => {
      return /^\d+$/.test(pid) && isProcessOf(Number(pid), 'containerd-shim') && isProcessOf(Number(pid), container)
    })
    if (shims.length === 0) throw new Error(`container ${container} has no shim`)
    for (const pid of shims) process.kill(Number(pid), 'SIGKILL')
  }

  async close(): Promise<void> {
    this.goOn()
    // With live-restore they would outlive it.
    for (const { Id } of await this.#docker.listContainers({ all: true }).catch(() => [])) {
      await this.#docker
        .getContainer(Id)
        .remove({ force: true })
        .catch(() => undefined)
    }
    await this.#stop('SIGTERM')
    for (const mount of this.#mounts()) execFileSync('umount', ['-l', mount])
    rmSync(this.#root, { recursive: true, force: true })
  }

  /** Settles when it answers. */
  async startAgain(): Promise<void> {
    const log = openSync(join(this.#root, 'log'), 'a')
    const child = spawn('dockerd', ['--config-file', join(this.#root, 'daemon.json')], {
      stdio: ['ignore', log, log],
      // containerd leaves what it unpacked of a checkpoint there.
      env: { ...process.env, TMPDIR: this.#root },
    })
    this.#process = child
    const deadline = Date.now() + startMs
    for (;;) {
      const isUp = await this.#docker.ping().then(
        () => true,
        () => false,
      )
      if (isUp) return
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`dockerd does not answer:\n${readFileSync(join(this.#root, 'log'), 'utf8').slice(-2_000)}`)
      }
      await sleep(100)
    }
  }

  async #stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
    await this.#containerdEnds()
    // Should its number be another process's by now, the next daemon would believe that this one lives.
    rmSync(join(this.#root, 'docker.pid'), { force: true })
  }

  /** It dies with its daemon, a moment later; the next daemon must not take it for its own meanwhile. */
  async #containerdEnds(): Promise<void> {
    const pid = this.#containerdPid()
    if (pid === undefined) return
    for (const deadline = Date.now() + startMs; isProcessOf(pid, this.#root); await sleep(50)) {
      if (Date.now() > deadline) throw new Error(`containerd ${pid} does not end`)
    }
    rmSync(this.#containerdPidFile, { force: true })
  }

  #containerdPid(): number | undefined {
    return existsSync(this.#containerdPidFile) ? Number(readFileSync(this.#containerdPidFile, 'utf8')) : undefined
  }

  get #containerdPidFile(): string {
    return join(this.#root, 'exec/containerd/containerd.pid')
  }

  /** What it leaves mounted, the innermost first. */
  #mounts(): string[] {
    const points = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
    return points.filter((point) => point.startsWith(`${this.#root}/`)).toReversed()
  }
}

/** Is there a process of this number with this in its command line? */
function isProcessOf(pid: number, word: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word)
  } catch {
    return false
  }
}

function sandboxImage(): string {
  return createDockerBackend().image
}
