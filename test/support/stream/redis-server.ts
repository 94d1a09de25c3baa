import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../../../src/dev-server/free-ports.js'
import { describeDependency } from '../docker/describe-dependency.js'

const startMs = 60_000

/** `describe` for tests with a real Redis server. */
export function describeRedis(name: string, tests: () => void): void {
  describeDependency('PTC_TEST_REDIS', name, findRedis() === undefined ? 'no redis-server' : undefined, tests)
}

/** The path of `redis-server`; undefined when it is not installed. */
function findRedis(): string | undefined {
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'redis-server'))
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** A private Redis server, which a test can kill and start again. It keeps its data on disk. */
export class RedisServer {
  readonly #port: number
  readonly #folder: string
  #process: ChildProcess | undefined

  private constructor(port: number, folder: string) {
    this.#port = port
    this.#folder = folder
  }

  static async start(): Promise<RedisServer> {
    const [port = 0] = await freePorts([0])
    const server = new RedisServer(port, await mkdtemp(join(tmpdir(), 'ptc-redis-')))
    await server.startProcess()
    return server
  }

  get url(): string {
    return `redis://${this.address}`
  }

  /** Host and port. */
  get address(): string {
    return `127.0.0.1:${this.#port}`
  }

  /** Id of the process; undefined while none runs. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** Settles when the server accepts connections. */
  async startProcess(): Promise<void> {
    const network = ['--port', String(this.#port), '--bind', '127.0.0.1']
    const data = ['--dir', this.#folder, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
    const child = spawn(findRedis() ?? 'redis-server', [...network, ...data], { stdio: 'ignore' })
    this.#process = child
    for (const deadline = Date.now() + startMs; !(await this.#accepts()); await delay(20)) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error('redis-server does not start')
    }
  }

  /** kill -9; settles when the process has ended. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  /** Stops the process without ending it: connections stay open and get no reply. */
  suspend(): void {
    this.#process?.kill('SIGSTOP')
  }

  resume(): void {
    this.#process?.kill('SIGCONT')
  }

  async close(): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 20 })
  }

  #accepts(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = createConnection(this.#port, '127.0.0.1', () => socket.write('PING\r\n'))
      socket.once('data', (answer) => {
        socket.destroy()
        resolve(answer.toString().startsWith('+PONG'))
      })
      socket.once('error', () => resolve(false))
      socket.once('close', () => resolve(false))
    })
  }
}
