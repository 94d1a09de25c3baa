import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../../src/index.js'
import { S3Store } from '../../../../src/values/s3/s3-store.js'
import { s3Available, S3Server } from '../../../support/s3/s3-server.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { listAll, readAll } from '../../../support/values/conformance.js'

const rows = defineTool({
  name: 'rows',
  description: 'Many rows.',
  input: z.object({ count: z.number() }),
  output: z.array(z.object({ row: z.number() })),
  effect: 'read',
  run: ({ count }) => Array.from({ length: count }, (_, row) => ({ row })),
})

describe.skipIf((await s3Available) === undefined)('a run whose values are in a bucket', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await S3Server.start()
  })
  afterAll(() => server.close())

  it('a run with a bucket delivers a result of 10 MB, stores none of it in the history, and replays', async () => {
    const { bucket, endpoint, region = '', forcePathStyle } = server.settings()
    const store = { kind: 's3', bucket, prefix: 'runs', ...(endpoint && { endpoint }), region, forcePathStyle } as const
    const env = await TestEnvironment.start({ tools: [rows], values: { store } })
    const source = 'answer = await rows(count=700_000)\nprint(len(answer), answer[-1]["row"])'
    const { outcome } = await env.runProgram(source)
    expect(outcome).toMatchObject({ status: 'ok' })
    expect(JSON.stringify(outcome)).toContain('700000 699999')
    expect(await env.historyBytes()).toBeLessThan(50_000)
    const kept = await listAll(new S3Store(server.settings('runs/')))
    expect(Math.max(...kept.map(({ bytes }) => bytes))).toBeGreaterThan(10_000_000)
  })

  it('a run with a bucket encrypts the values in it, and a second run reads them again', async () => {
    const { bucket, endpoint, region = '', forcePathStyle } = server.settings()
    const prefix = 'encrypted'
    const store = { kind: 's3', bucket, prefix, ...(endpoint && { endpoint }), region, forcePathStyle } as const
    const key = randomBytes(32).toString('base64')
    const encryption = { currentKeyId: 'k1', key: () => key }
    const env = await TestEnvironment.start({ tools: [rows], values: { store }, encryption })
    const source = 'answer = await rows(count=100_000)\nprint(input_data[:6], len(answer), answer[-1]["row"])'
    const handle = await env.startProgram(source, { input: 'marker'.repeat(100_000) })
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'marker 100000 99999\n' } })
    const bucketStore = new S3Store(server.settings(`${prefix}/`))
    const kept = await listAll(bucketStore)
    expect(Math.max(...kept.map(({ bytes }) => bytes))).toBeGreaterThan(1_000_000)
    for (const content of kept) {
      const stored = await readAll(bucketStore, content)
      for (const plain of ['markermarker', '"row"']) expect(stored.includes(plain)).toBe(false)
    }
    await env.expectCleanEnd(handle)
  })
})
