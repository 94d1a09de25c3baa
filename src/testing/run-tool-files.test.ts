import { buffer } from 'node:stream/consumers'
import { ReadableStream } from 'node:stream/web'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { partBytes, type StoredFile } from '../common/files/files.js'
import { defineTool, file, type FileResult, ToolError, type ToolContext, type ToolLog } from '../tools/index.js'
import { runTool } from './run-tool.js'

const silent: ToolLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Runs a tool once. Returns its file and the bytes of it. */
async function filed(
  run: (context: ToolContext) => FileResult,
  {
    maxBytes,
    tmpBytes,
    effect = 'read',
  }: { readonly maxBytes?: number; readonly tmpBytes?: number; readonly effect?: 'read' | 'once' } = {},
): Promise<readonly [string, StoredFile, Buffer]> {
  const tool = defineTool({
    name: 'export',
    description: 'Exports.',
    input: z.object({}),
    output: file(maxBytes === undefined ? {} : { maxBytes }),
    effect,
    timeout: '300ms',
    credentials: ['key'],
    run: (_input, context) => run(context),
  })
  let got: readonly [StoredFile, Uint8Array] | undefined
  const path = await runTool(
    tool,
    {},
    {
      idempotencyKey: '0123456789abcdef0123456789abcdef',
      credentials: { key: 'a-secret-key' },
      log: silent,
      ...(tmpBytes !== undefined && { limits: { tmpBytes } }),
      onFile: (...all) => (got = all),
    },
  )
  if (!got) throw new Error('there was no file')
  return [path, got[0], Buffer.from(got[1])]
}

async function* stream(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield* pieces
}

it('a tool returns a text, bytes, a stream, or the body of a response', async () => {
  const [path, stored, bytes] = await filed(() => ({ name: 'a.csv', data: 'a,b\n1,ä' }))
  expect(path).toBe('/tmp/in/tools/0123456789abcdef/a.csv')
  expect(stored).toMatchObject({ path, bytes: 8, mediaType: 'text/csv', preview: 'a,b\n1,ä' })
  expect(bytes.toString()).toBe('a,b\n1,ä')
  expect((await filed(() => ({ name: 'a', data: Buffer.from('b') })))[2].toString()).toBe('b')
  const content = Buffer.alloc(partBytes + 3, 'abc')
  const [, large, read] = await filed(() => ({ name: 'a', data: stream(content.subarray(0, 9), content.subarray(9)) }))
  expect(large.parts).toHaveLength(2)
  expect(read.equals(content)).toBe(true)
  const body = new Response('hello').body as ReadableStream<Uint8Array>
  expect((await filed(() => ({ name: 'a', data: body })))[2].toString()).toBe('hello')
  expect((await filed(() => ({ name: 'empty', data: '' })))[1]).toMatchObject({ bytes: 0, parts: [{}] })
})

it('credentials do not enter the path and the preview of a file', async () => {
  const [path, { preview }, bytes] = await filed(({ credential }) => {
    const secret = credential('key')
    return { name: `${secret}.txt`, data: `key=${secret}` }
  })
  expect([path, preview].join()).not.toContain('a-secret-key')
  // The content is what the tool says.
  expect(bytes.toString()).toBe('key=a-secret-key')
})

it('a file over a limit is refused, and its stream closed', async () => {
  let closed = 0
  async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) yield Buffer.alloc(400)
    } finally {
      closed += 1
    }
  }
  const tooLarge = { type: 'TOOL_RESULT_TOO_LARGE', message: expect.stringContaining('more than 1000 bytes') }
  await expect(filed(() => ({ name: 'a', data: endless() }), { maxBytes: 1_000 })).rejects.toMatchObject(tooLarge)
  await expect(filed(() => ({ name: 'a', data: endless() }), { tmpBytes: 1_000 })).rejects.toMatchObject(tooLarge)
  expect(closed).toBe(2)
  await expect(filed(() => ({ name: 'a', data: 'ä'.repeat(501) }), { maxBytes: 1_000 })).rejects.toMatchObject(tooLarge)
})

it('a stream that fails is an error of the tool', async () => {
  async function* failing(error: Error): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from('half')
    throw error
  }
  const fail = (error: Error, effect: 'read' | 'once' = 'read') =>
    filed(() => ({ name: 'a', data: failing(error) }), { effect })
  await expect(fail(new Error('reset'))).rejects.toMatchObject({ type: 'TOOL_FAILED', nonRetryable: false })
  await expect(fail(new Error('reset'), 'once')).rejects.toMatchObject({ type: 'TOOL_FAILED', nonRetryable: true })
  await expect(fail(new ToolError('gone'))).rejects.toMatchObject({ type: 'TOOL_REFUSED', message: 'gone' })
  const broken = {
    [Symbol.asyncIterator]: (): AsyncIterator<Uint8Array> => {
      throw new Error('locked')
    },
  }
  await expect(filed(() => ({ name: 'a', data: broken }))).rejects.toMatchObject({ type: 'TOOL_FAILED' })
})

it('the time of a tool is also that of its stream', async () => {
  const hanging = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from('a')) })
  await expect(filed(() => ({ name: 'a', data: hanging }))).rejects.toMatchObject({ type: 'TOOL_TIMED_OUT' })
  const failed = filed(() => ({ name: 'a', data: stream(Buffer.alloc(3)) }))
  expect(await buffer(stream((await failed)[2]))).toHaveLength(3)
})

it.each([
  [undefined],
  ['text'],
  [{ data: 'x' }],
  [{ name: 1, data: 'x' }],
  [{ name: 'a', data: [1, 2] }],
  [{ name: 'a', data: new ArrayBuffer(1) }],
  [{ name: '../a', data: '' }],
  [{ name: 'a\u0000', data: '' }],
  [{ name: 'a', data: '', mediaType: 'text/plain; charset=utf-8' }],
  [{ name: 'a.png', data: 'no image', mediaType: 'image/png' }],
])('%o is no file', async (returned) => {
  await expect(filed(() => returned as FileResult)).rejects.toMatchObject({
    type: 'TOOL_OUTPUT_INVALID',
    message: expect.stringContaining('the result of export is no file'),
  })
})
