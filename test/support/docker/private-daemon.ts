import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Dockerode from 'dockerode'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { childrenOf, isAlive } from '../faults/processes.js'
import type { NetworkNamespace } from '../network/network-namespace.js'
import { gvisorRuntime } from './describe-gvisor.js'

const startMs = 120_000

export interface PrivateDockerDaemonOptions {
  /** Containers survive the daemon. */
  readonly liveRestore?: boolean
  /** An existing folder for images and containers, for example on a small disk; default: a temporary folder. */
  readonly dataRoot?: string
  /**
   * A network namespace in which the daemon is like a machine of its own: its processes, containers and mounts all end
   * with it. Default: an empty network namespace, and the process namespace of this machine.
   */
  readonly machine?: NetworkNamespace
}

/** A private Docker daemon with gVisor and checkpoints, which a test can kill, restart and inspect. Needs root. */
export class PrivateDockerDaemon {
  readonly #root = mkdtempSync(join(tmpdir(), 'ptc-dockerd-'))
  readonly #data: string
  readonly #machine: NetworkNamespace | undefined
  readonly #docker: Dockerode
  /** The daemon of the machine. */
  readonly #systemDocker = new Dockerode()
  #process: ChildProcess | undefined

  private constructor({ liveRestore = false, dataRoot, machine }: PrivateDockerDaemonOptions) {
    this.#data = dataRoot ?? join(this.#root, 'data')
    this.#machine = machine
    this.#docker = new Dockerode({ socketPath: join(this.#root, 'docker.sock') })
    const configuration = {
      experimental: true,
      'live-restore': liveRestore,
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

  /** Starts a daemon with the sandbox image of the machine's daemon. */
  static async start(options: PrivateDockerDaemonOptions = {}): Promise<PrivateDockerDaemon> {
    const daemon = new PrivateDockerDaemon(options)
    try {
      await daemon.startProcess()
      await daemon.loadImage()
    } catch (error) {
      await daemon.close()
      throw error
    }
    return daemon
  }

  /** The value of DOCKER_HOST. */
  get host(): string {
    return `unix://${join(this.#root, 'docker.sock')}`
  }

  /** The folder of one container, including its checkpoints. */
  containerDirectory(container: string): string {
    return join(this.#data, 'containers', container)
  }

  /** Id of the process that started the daemon; undefined while none runs. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** All containers, running or not. */
  containers(): Promise<Dockerode.ContainerInfo[]> {
    return this.#docker.listContainers({ all: true })
  }

  /** Copies the sandbox image from the machine's daemon. */
  async loadImage(): Promise<void> {
    const image = await this.#systemDocker.getImage(sandboxImage()).get()
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
    await this.startProcess()
  }

  /** Kills the daemon. Without live-restore, and on a machine of its own, its containers are lost. */
  async kill(): Promise<void> {
    await this.#stop('SIGKILL')
  }

  /** Makes the daemon hang: it accepts requests, and responds to none until {@link resume}. */
  suspend(): void {
    this.#process?.kill('SIGSTOP')
  }

  resume(): void {
    this.#process?.kill('SIGCONT')
  }

  /** Kills the daemon's containerd, and waits until the daemon has started the next one. */
  async killContainerd(): Promise<void> {
    const pid = this.#containerdPid()
    if (pid === undefined) throw new Error('this daemon has no containerd')
    process.kill(pid, 'SIGKILL')
    for (const deadline = Date.now() + startMs; ; await sleep(50)) {
      const next = this.#containerdPid()
      if (next !== undefined && next !== pid && processMatches(next, this.#root)) return
      if (Date.now() > deadline) throw new Error('the daemon does not restart containerd')
    }
  }

  /** Kills the containerd shim of one container. */
  killShim(container: string): void {
    const shims = readdirSync('/proc').filter((pid) => {
      return (
        /^\d+$/.test(pid) && processMatches(Number(pid), 'containerd-shim') && processMatches(Number(pid), container)
      )
    })
    if (shims.length === 0) throw new Error(`container ${container} has no shim`)
    for (const pid of shims) process.kill(Number(pid), 'SIGKILL')
  }

  async close(): Promise<void> {
    this.resume()
    // With live-restore the containers would outlive the daemon.
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

  /** Starts the daemon process and waits until it responds. */
  async startProcess(): Promise<void> {
    const log = openSync(join(this.#root, 'log'), 'a')
    // The daemon has its own network namespace: a daemon without a bridge removes docker0, which the machine's daemon
    // uses.
    const [program, ...options] = this.#machine
      ? [...this.#machine.launcher, 'unshare', '--pid', '--fork', '--kill-child', '--mount', '--mount-proc']
      : (['unshare', '--net'] as const)
    const child = spawn(program, [...options, 'dockerd', '--config-file', join(this.#root, 'daemon.json')], {
      stdio: ['ignore', log, log],
      // containerd leaves the files of unpacked checkpoints in this folder.
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
    if (this.#machine) {
      const processes = child.pid === undefined ? [] : childrenOf(child.pid)
      child.kill('SIGKILL')
      await exit
      // The first process of a namespace ends after all others.
      for (const pid of processes) while (isAlive(pid)) await sleep(20)
      // The folder of a running system is lost with it. The ids of its processes mean others in the next one.
      rmSync(join(this.#root, 'exec'), { recursive: true, force: true })
    } else {
      child.kill(signal)
      await exit
      await this.#waitForContainerdExit()
    }
    // If another process gets the same pid, the next daemon would consider this one alive.
    rmSync(join(this.#root, 'docker.pid'), { force: true })
  }

  /** containerd exits shortly after its daemon. Until then the next daemon would use it. */
  async #waitForContainerdExit(): Promise<void> {
    const pid = this.#containerdPid()
    if (pid === undefined) return
    for (const deadline = Date.now() + startMs; processMatches(pid, this.#root); await sleep(50)) {
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

  /** The mounts that the daemon leaves, innermost first. */
  #mounts(): string[] {
    const points = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
    return points.filter((point) => point.startsWith(`${this.#root}/`)).toReversed()
  }
}

/** True when there is a process with this pid and with this text in its command line. */
function processMatches(pid: number, word: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word)
  } catch {
    return false
  }
}

function sandboxImage(): string {
  return createDockerBackend().image
}
