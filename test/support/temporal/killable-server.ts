import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { startDevServer } from '../../../src/dev-server/index.js'
import type { TemporalServer } from '../../../src/dev-server/temporal-server.js'

/** A Temporal server that can be killed, and restarted at the same address with its data. */
export interface KillableServer {
  readonly address: string
  /** kill -9; settles when the server has ended. */
  kill(): Promise<void>
  /** Settles when the server answers. */
  startProcess(): Promise<void>
}

/** The dev server with a database file. */
export class PersistentDevServer implements KillableServer {
  readonly #folder: string
  #running: TemporalServer

  private constructor(folder: string, running: TemporalServer) {
    this.#folder = folder
    this.#running = running
  }

  /** Starts a server that ends with the test. */
  static async start(): Promise<PersistentDevServer> {
    const folder = await mkdtemp(join(tmpdir(), 'ptc-server-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))
    const server = new PersistentDevServer(folder, await startDevServer(devServerOptions(folder)))
    onTestFinished(() => server.#running.close())
    return server
  }

  get address(): string {
    return this.#running.address
  }

  /** Kills its whole process group: the server, and the shell that supervises it. */
  async kill(): Promise<void> {
    const record = z
      .object({ pid: z.int() })
      .parse(JSON.parse(await readFile(join(this.#folder, 'temporal.json'), 'utf8')))
    process.kill(-record.pid, 'SIGKILL')
    await this.#running.unexpectedExit
  }

  async startProcess(): Promise<void> {
    const port = Number(new URL(`tcp://${this.address}`).port)
    this.#running = await startDevServer({ ...devServerOptions(this.#folder), port })
    if (this.#running.origin !== 'started') throw new Error('another process has started the server')
  }
}

function devServerOptions(stateDirectory: string) {
  return { stateDirectory, onProgress: () => undefined, signal: AbortSignal.timeout(150_000) }
}
