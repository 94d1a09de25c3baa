import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { defaultPayloadConverter } from '@temporalio/common'
import type { WorkflowHandle } from '@temporalio/client'
import { expect, it, onTestFinished, vi } from 'vitest'
import { partBytes } from '../../../src/common/files/files.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { noModel } from '../../support/script.js'
import { pollOptions } from '../../support/poll-options.js'
import { pendingActivities, waitForActivity } from '../../support/environment/waits.js'

/** A sandbox is slower after 64 MB. TEST_FILE_MEGABYTES=1024 is the largest file that a run may have. */
const megabytes = Number(process.env['TEST_FILE_MEGABYTES'] ?? 96)
const fileBytes = megabytes << 20

const program = `
import hashlib, os
with open('/tmp/in/data', 'rb') as file:
    print(hashlib.file_digest(file, 'sha256').hexdigest())
os.makedirs('/tmp/out', exist_ok=True)
os.rename('/tmp/in/data', '/tmp/out/data')
`

const parts = fileBytes / partBytes

/** The number of parts of an artifact that a worker has stored, by its last heartbeat. */
async function storedParts(handle: WorkflowHandle): Promise<number> {
  const [pending] = await pendingActivities(handle, 'session.files')
  const details = pending?.heartbeatDetails?.payloads?.map((payload) => defaultPayloadConverter.fromPayload(payload))
  const [{ parts: files = [[]] } = {}] = (details ?? []) as readonly {
    readonly parts?: readonly (readonly unknown[])[]
  }[]
  return files[0]?.length ?? 0
}

/** The largest memory of a process so far. */
function peakMegabytes({ pid }: { readonly pid?: number | undefined } = {}): number {
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

async function writeRandomFile(path: string): Promise<void> {
  const cipher = createCipheriv('aes-128-ctr', randomBytes(16), randomBytes(16))
  const zeros = Buffer.alloc(1 << 20)
  await pipeline(
    (function* () {
      for (let written = 0; written < fileBytes; written += zeros.length) yield cipher.update(zeros)
    })(),
    createWriteStream(path),
  )
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer)
  return hash.digest('hex')
}

describeDocker('a large file', () => {
  it('goes through client, store, worker and sandbox and back, and a killed worker is replaced in both directions', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ptc-large-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'data')
    await writeRandomFile(file)
    const store = { kind: 'local', directory: join(folder, 'values') } as const
    const environment = { TEST_VALUE_STORE: JSON.stringify(store) }
    const { env } = await startWithLedger(noModel, { environment, store })
    const base = peakMegabytes(env.workers.all[0])
    const peaks: number[] = []
    const replaceWorker = async () => {
      peaks.push(peakMegabytes(env.workers.all.at(-1)))
      await env.workers.replace()
    }
    const times: Record<string, number> = {}
    const timed = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
      const begin = performance.now()
      const result = await work()
      times[name] = Math.round(performance.now() - begin)
      return result
    }
    const limits = {
      tmpBytes: fileBytes + (16 << 20),
      memoryBytes: fileBytes + (256 << 20),
      storedBytes: 4 * fileBytes,
    }
    const run = await timed('client to store', () =>
      env.ptc.startProgram({ source: program, files: [{ file }], limits }),
    )
    const handle = env.client.workflow.getHandle(run.workflowId)
    await timed('store to sandbox', async () => {
      await waitForActivity(handle, 'session.step', Math.floor(parts / 2))
      await replaceWorker()
      await waitForActivity(handle, 'session.files')
    })
    const result = await timed('sandbox to store', async () => {
      await vi.waitUntil(async () => (await storedParts(handle)) > parts / 4, pollOptions)
      await replaceWorker()
      return run.result()
    })
    const to = join(folder, 'copy')
    await timed('store to client', () => run.files.download('data', to))
    peaks.push(peakMegabytes(env.workers.all.at(-1)))
    const { historyLength, historySize } = await handle.describe()
    if (process.env['TEST_FILE_MEGABYTES'] !== undefined)
      console.log({ megabytes, times, base, peaks, client: peakMegabytes(process), historyLength, historySize })
    const expected = await sha256(file)
    expect(result.outcome).toMatchObject({ status: 'ok', output: `${expected}\n`, files: [{ path: '/tmp/out/data' }] })
    expect(await sha256(to)).toBe(expected)
    expect(Math.max(...peaks) - base).toBeLessThan(400)
    await env.expectCleanEnd(handle)
  })
})
