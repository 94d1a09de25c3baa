import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { expect, it, onTestFinished } from 'vitest'
import type { ProgramResult } from '../../src/common/runs.js'
import { startDevServer } from '../../src/worker/dev-server/index.js'
import { describeDocker } from '../support/docker.js'
import { Ledger } from '../support/ledger.js'
import { uniqueName } from '../support/temporal.js'
import { WorkerProcess } from '../support/worker-process.js'

const config = fileURLToPath(new URL('../fixtures/ledger.config.ts', import.meta.url))

describeDocker('kill -9 of the Temporal server', () => {
  it('while a tool runs: the run goes on when the server is back', { timeout: 120_000 }, async () => {
    const stateDirectory = await mkdtemp(join(tmpdir(), 'ptc-server-'))
    onTestFinished(() => rm(stateDirectory, { recursive: true, force: true }))
    const options = { stateDirectory, onProgress: () => undefined, signal: AbortSignal.timeout(100_000) }
    const first = await startDevServer(options)
    const taskQueue = uniqueName('server')
    const ledger = await Ledger.start()
    const environment = { TEMPORAL_ADDRESS: first.address, LEDGER_URL: ledger.url, TEST_BACKEND: 'docker' }
    const worker = await WorkerProcess.start({ config, taskQueue, environment })
    onTestFinished(async () => {
      await worker.kill()
      await ledger.close()
    })
    ledger.hold('b')
    const source = 'print([(await charge(name=n))["done"] for n in "abc"])'
    const before = new Client({ connection: await Connection.connect({ address: first.address }) })
    const { workflowId } = await before.workflow.start('program', {
      workflowId: uniqueName('program'),
      taskQueue,
      args: [{ source }],
    })
    await ledger.askedFor('b')
    await before.connection.close()

    const { pid } = JSON.parse(await readFile(join(stateDirectory, 'temporal.json'), 'utf8')) as {
      readonly pid: number
    }
    process.kill(pid, 'SIGKILL')
    await first.lost
    ledger.release('b')
    const port = Number(first.address.split(':').at(-1))
    const second = await startDevServer({ ...options, port })
    onTestFinished(() => second.close())

    const after = new Client({ connection: await Connection.connect({ address: second.address }) })
    const result = (await after.workflow.getHandle(workflowId).result()) as ProgramResult
    await after.connection.close()
    expect(result).toMatchObject({ outcome: { status: 'ok', output: "['a', 'b', 'c']\n" }, toolCalls: 3 })
    expect(ledger.names).toEqual(['a', 'b', 'c'])
  })
})
