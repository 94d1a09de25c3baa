import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import Dockerode from 'dockerode'
import { pack } from 'tar-stream'
import { partBytes, type StoredFile } from '../dist/common/files/files.js'
import type { ValueRef } from '../dist/common/json/external-value.js'
import { defaultLimits } from '../dist/common/run/limits.js'
import { storeFile } from '../dist/files/index.js'
import { LocalStore } from '../dist/values/local/local-store.js'
import { Values } from '../dist/values/values.js'
import { benchmark } from './support/benchmark.js'
import { interleaved, ratios, type ResultRow, timeMs } from './support/measure.js'
import { type BenchSession, createDocker, createHost, openSession, runCell } from './support/sandboxes.js'

const limits = { ...defaultLimits, tmpBytes: 512 << 20, memoryBytes: 1024 << 20 }
const megabytes = 48
const content = randomBytes(megabytes << 20)

// Compares an upload from the value store into a sandbox, and an artifact from a sandbox into the store, with the
// archives of Docker (`docker cp`) to and from a container without a tmpfs; and the calls of a session with and without
// files. Without Temporal.
await benchmark('files', async (context) => {
  const { runs, calls, progress, defer, signal } = context
  const docker = await createDocker(context)
  const host = await createHost(docker, context)
  const directory = mkdtempSync(join(tmpdir(), 'ptc-bench-files-'))
  defer(() => rmSync(directory, { recursive: true, force: true }))
  const values = new Values({ store: new LocalStore(directory), cacheBytes: 0 })
  const readValue = (ref: ValueRef) => values.readUtf8(ref, 'the benchmark', signal)
  const stored = await storeFile(values, { path: '/tmp/in/data', content: pieces(content) }, signal)

  const container = await new Dockerode().createContainer({
    name: `ptc-bench-files-${randomUUID()}`,
    Image: docker.image,
    Labels: { 'ptc.namespace': 'ptc-bench' },
    Entrypoint: ['/bin/sleep', '600'],
  })
  defer(() => container.remove({ force: true, v: true }))
  await container.start()

  const withFiles = await openSession(host, 'docker', { readValue, language: 'python,files', limits })
  const plain = await openSession(host, 'docker', { readValue, limits })
  defer(() => withFiles.close())
  defer(() => plain.close())
  let attempt = 0
  const work = {
    upload: async () => speed(await timeMs(() => upload(withFiles, stored))),
    'docker upload': async () => {
      const archive = await tar(content)
      return speed(await timeMs(() => container.putArchive(archive, { path: '/tmp' })))
    },
    download: async () => {
      async function* read() {
        for (let offset = 0; offset < content.length; offset += partBytes) {
          const part = { path: '/tmp/in/data', offset, bytes: Math.min(partBytes, content.length - offset) }
          attempt += 1
          const answer = await host.readFile(withFiles.ref, withFiles.steps(), { limits, part }, { attempt, signal })
          if (answer?.type !== 'snapshot') throw new Error(`the file was not read: ${JSON.stringify(answer)}`)
          yield Buffer.concat(answer.pieces.map((piece) => Buffer.from(piece, 'base64')))
        }
      }
      return speed(await timeMs(() => storeFile(values, { path: '/tmp/out/data', content: read() }, signal)))
    },
    'docker download': async () =>
      speed(await timeMs(async () => buffer(await container.getArchive({ path: '/tmp/data' })))),
    'call with files': async () => (await timeMs(() => makeCalls(withFiles, calls))) / calls,
    'call without files': async () => (await timeMs(() => makeCalls(plain, calls))) / calls,
    'cell with files': () => timeMs(() => runCell(withFiles, 'pass')),
    'cell without files': () => timeMs(() => runCell(plain, 'pass')),
  }
  progress(`${runs} repetitions of ${megabytes} MiB each way, and ${calls} calls`)
  await interleaved(1, work)
  const samples = await interleaved(runs, work)
  const compared = (name: string, ours: keyof typeof work, reference: keyof typeof work): ResultRow => ({
    name,
    unit: 'x',
    samples: ratios(samples[ours], samples[reference]),
  })
  return [
    { name: `${megabytes} MiB, value store to sandbox`, unit: 'MB/s', samples: samples.upload },
    { name: `${megabytes} MiB, docker cp to container`, unit: 'MB/s', samples: samples['docker upload'] },
    compared('docker cp / upload', 'docker upload', 'upload'),
    { name: `${megabytes} MiB, sandbox to value store`, unit: 'MB/s', samples: samples.download },
    { name: `${megabytes} MiB, docker cp from container`, unit: 'MB/s', samples: samples['docker download'] },
    compared('docker cp / download', 'docker download', 'download'),
    compared('call, Python with files / without', 'call with files', 'call without files'),
    compared('empty cell, Python with files / without', 'cell with files', 'cell without files'),
  ]
})

async function upload(session: BenchSession, { path, parts }: StoredFile): Promise<void> {
  for (const [index, part] of parts.entries()) {
    const result = await session.executeStep({ type: 'file', path, offset: index * partBytes, content: part })
    if (result.type !== 'completed') throw new Error(`the file was not written: ${JSON.stringify(result)}`)
  }
}

async function makeCalls(session: BenchSession, count: number): Promise<void> {
  const source = `for value in range(${count}):\n    await ping(value=value)`
  let result = await session.executeStep({ type: 'cell', cell: 1, source })
  while (result.type === 'suspended') {
    const results = result.calls.map(({ index }) => ({ index, outcome: { status: 'ok' as const, value: 1 } }))
    result = await session.executeStep({ type: 'results', results })
  }
  if (result.type !== 'completed') throw new Error(`the measured cell did not complete: ${JSON.stringify(result)}`)
}

function speed(milliseconds: number): number {
  return content.length / 1e6 / (milliseconds / 1e3)
}

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}

function tar(bytes: Buffer): Promise<Buffer> {
  const archive = pack()
  archive.entry({ name: 'data', size: bytes.length }, bytes)
  archive.finalize()
  return buffer(archive)
}
