import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { ProgramResult } from '../../src/common/runs.js'
import { startDevServer } from '../../src/worker/dev-server/index.js'
import { describeDocker } from '../support/docker.js'
import { Ledger } from '../support/ledger.js'
import { uniqueName } from '../support/temporal.js'
import { WorkerProcess } from '../support/worker-process.js'

const config = fileURLToPath(new URL('../fixtures/ledger.config.ts', import.meta.url))

/** A server that keeps what it knows in a folder, to be killed and started again at the same address. */
class DurableServer {
  readonly folder: string
  #running: Awaited<ReturnType<typeof startDevServer>>

  private constructor(folder: string, running: Awaited<ReturnType<typeof startDevServer>>) {
    this.folder = folder
    this.#running = running
  }

  static async start(): Promise<DurableServer> {
    const folder = await mkdtemp(join(tmpdir(), 'ptc-server-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))
    const server = new DurableServer(folder, await startDevServer(optionsFor(folder)))
    onTestFinished(() => server.#running.close())
    return server
  }

  get address(): string {
    return this.#running.address
  }

  /** kill -9 of the server and of the shell that watches it: of its whole process group. */
  async kill(): Promise<void> {
    const record = z
      .object({ pid: z.int() })
      .parse(JSON.parse(await readFile(join(this.folder, 'temporal.json'), 'utf8')))
    process.kill(-record.pid, 'SIGKILL')
    await this.#running.lost
  }

  async startAgain(): Promise<void> {
    const port = Number(new URL(`tcp://${this.address}`).port)
    this.#running = await startDevServer({ ...optionsFor(this.folder), port })
    expect(this.#running.origin).toBe('started')
  }

  async client(): Promise<Client> {
    const connection = await Connection.connect({ address: this.address })
    onTestFinished(() => connection.close())
    return new Client({ connection })
  }
}

function optionsFor(stateDirectory: string) {
  return { stateDirectory, onProgress: () => undefined, signal: AbortSignal.timeout(150_000) }
}

describeDocker('kill -9 of the Temporal server', () => {
  it('while a tool runs: the run goes on when the server is back', async () => {
    const server = await DurableServer.start()
    const taskQueue = uniqueName('server')
    const ledger = await Ledger.start()
    onTestFinished(() => ledger.close())
    const environment = { TEMPORAL_ADDRESS: server.address, LEDGER_URL: ledger.url, TEST_BACKEND: 'docker' }
    const worker = await WorkerProcess.start({ config, taskQueue, environment })
    onTestFinished(() => worker.kill())
    ledger.hold('b')
    const source = 'print([(await charge(name=n))["done"] for n in "abc"])'
    const workflowId = uniqueName('program')
    const before = await server.client()
    await before.workflow.start('program', { workflowId, taskQueue, args: [{ source }] })
    await ledger.askedFor('b')

    await server.kill()
    ledger.release('b')
    await server.startAgain()

    const after = await server.client()
    const result = (await after.workflow.getHandle(workflowId).result()) as ProgramResult
    expect(result).toMatchObject({ outcome: { status: 'ok', output: "['a', 'b', 'c']\n" }, toolCalls: 3 })
    expect(ledger.names).toEqual(['a', 'b', 'c'])
  })
})
