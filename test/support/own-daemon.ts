import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Dockerode from 'dockerode'
import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { gvisorRuntime } from './gvisor.js'

const startMs = 120_000

/** A Docker daemon of a test's own, with gVisor and checkpoints: to be killed and started again, and looked into. Needs root. */
export class OwnDaemon {
  readonly #root = mkdtempSync(join(tmpdir(), 'ptc-dockerd-'))
  readonly #docker: Dockerode
  #process: ChildProcess | undefined

  private constructor() {
    this.#docker = new Dockerode({ socketPath: join(this.#root, 'docker.sock') })
    const configuration = {
      experimental: true,
      // No network of its own: this daemon must not meddle with that of another.
      bridge: 'none',
      iptables: false,
      'data-root': join(this.#root, 'data'),
      'exec-root': join(this.#root, 'exec'),
      pidfile: join(this.#root, 'docker.pid'),
      hosts: [this.host],
      runtimes: { [gvisorRuntime]: { path: gvisorRuntime, runtimeArgs: ['--network=none'] } },
    }
    writeFileSync(join(this.#root, 'daemon.json'), JSON.stringify(configuration))
  }

  /** Starts one that has the sandbox image of the machine's own. */
  static async start(): Promise<OwnDaemon> {
    const daemon = new OwnDaemon()
    try {
      await daemon.#start()
      const image = await new Dockerode().getImage(createDockerBackend().image).get()
      const loading = await daemon.#docker.loadImage(image)
      await new Promise((resolve, reject) => {
        daemon.#docker.modem.followProgress(loading, (error) => (error ? reject(error) : resolve(undefined)))
      })
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
    return join(this.#root, 'data/containers', container)
  }

  async restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#stop(signal)
    await this.#start()
  }

  async close(): Promise<void> {
    await this.#stop('SIGTERM')
    for (const mount of this.#mounts()) execFileSync('umount', ['-l', mount])
    rmSync(this.#root, { recursive: true, force: true })
  }

  async #start(): Promise<void> {
    const log = openSync(join(this.#root, 'log'), 'a')
    const process = spawn('dockerd', ['--config-file', join(this.#root, 'daemon.json')], {
      stdio: ['ignore', log, log],
      // containerd leaves what it unpacked of a checkpoint there.
      env: { ...globalThis.process.env, TMPDIR: this.#root },
    })
    this.#process = process
    const deadline = Date.now() + startMs
    for (;;) {
      const isUp = await this.#docker.ping().then(
        () => true,
        () => false,
      )
      if (isUp) return
      if (process.exitCode !== null || Date.now() > deadline) {
        throw new Error(`dockerd does not answer:\n${readFileSync(join(this.#root, 'log'), 'utf8').slice(-2_000)}`)
      }
      await sleep(100)
    }
  }

  async #stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const process = this.#process
    this.#process = undefined
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return
    const exit = once(process, 'exit')
    process.kill(signal)
    await exit
    await this.#containerdEnds()
    // Should its number be another process's by now, the next daemon would believe that this one lives.
    rmSync(join(this.#root, 'docker.pid'), { force: true })
  }

  /** It dies with its daemon, a moment later; the next daemon must not take it for its own meanwhile. */
  async #containerdEnds(): Promise<void> {
    const pidFile = join(this.#root, 'exec/containerd/containerd.pid')
    if (!existsSync(pidFile)) return
    const pid = Number(readFileSync(pidFile, 'utf8'))
    const isAlive = (): boolean =>
      existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(this.#root)
    for (const deadline = Date.now() + startMs; isAlive(); await sleep(50)) {
      if (Date.now() > deadline) throw new Error(`containerd ${pid} does not end`)
    }
    rmSync(pidFile, { force: true })
  }

  /** What it leaves mounted, the innermost first. */
  #mounts(): string[] {
    const points = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
    return points.filter((point) => point.startsWith(`${this.#root}/`)).toReversed()
  }
}
