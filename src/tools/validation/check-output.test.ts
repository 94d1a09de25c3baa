import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import { defaultLimits } from '../../common/run/limits.js'
import { checkOutput } from './check-output.js'
import { defineTool } from '../define-tool.js'

async function run(
  give: () => unknown,
  { output = z.unknown() }: { readonly output?: z.ZodType } = {},
): Promise<JsonValue> {
  const tool = defineTool({ name: 'a_tool', description: 'x', input: z.object({}), output, effect: 'read', run: give })
  return checkOutput(tool, give(), { ...defaultLimits, resultBytes: 1_000 })
}

async function failure(running: Promise<unknown>): Promise<PtcError> {
  const thrown: unknown = await running.then(
    (value) => new Error(`it gave ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  if (PtcError.isInstance(thrown)) return thrown
  throw thrown
}

describe('checkOutput', () => {
  class Money {
    amount = 3
  }
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = { back: cyclic }
  it.each<[string, unknown, string, string | undefined]>([
    ['undefined', undefined, 'is not JSON: it is undefined', 'Return null instead.'],
    ['undefined in a list', { list: [1, undefined] }, 'at list[1]: it is undefined', 'Return null instead.'],
    ['a hole in a list', { list: [1, , 3] }, 'at list[1]: it is undefined', 'Return null instead.'], // oxlint-disable-line no-sparse-arrays
    ['NaN', { a: { b: Number.NaN } }, 'at a.b: it is NaN', 'Return null, or leave it out.'],
    ['Infinity', [Infinity], 'at [0]: it is Infinity', 'Return null, or leave it out.'],
    ['a BigInt', { 'big one': 1n }, 'at ["big one"]: it is a BigInt', 'Return String(value).'],
    ['a Date', { at: new Date() }, 'at at: it is a Date', 'Return date.toISOString().'],
    ['a Map', new Map(), 'is not JSON: it is a Map', 'Return Object.fromEntries(map).'],
    ['a Set', { s: new Set() }, 'at s: it is a Set', 'Return [...set].'],
    ['a function', { f: () => 1 }, 'at f: it is a function', undefined],
    ['a symbol', { s: Symbol('x') }, 'at s: it is a symbol', undefined],
    ['a symbol key', { [Symbol('x')]: 1 }, 'it has a symbol as a key', undefined],
    [
      'a Buffer',
      { data: Buffer.from('abc') },
      'at data: it is binary data',
      "Return text, such as buffer.toString('base64').",
    ],
    [
      'a stream',
      { body: new ReadableStream() },
      'at body: it is a stream',
      'Read it to its end and return the content.',
    ],
    [
      'a class instance',
      [new Money()],
      'at [0]: it is an instance of Money',
      'Return a plain object with the fields the caller needs.',
    ],
    [
      'an error',
      { e: new Error('x') },
      'at e: it is an instance of Error',
      'Return a plain object with the fields the caller needs.',
    ],
    ['itself', cyclic, 'or contains itself', 'Return a flatter value.'],
    [
      'a getter that throws',
      {
        get a() {
          throw new Error('no')
        },
      },
      'could not be read: no',
      undefined,
    ],
  ])('refuses a result of a tool that contains %s', async (_what, value, message, hint) => {
    const error = await failure(run(() => value))
    expect(error).toMatchObject({
      code: 'TOOL_OUTPUT_INVALID',
      retryable: false,
      message: expect.stringContaining(message),
      hint,
    })
  })

  it('a result of a tool omits undefined members of objects', async () => {
    const value = await run(() => ({ a: 1, b: undefined, c: [{ d: undefined }] }))
    expect(Object.keys(value as object)).toEqual(['a', 'c'])
    expect(value).toStrictEqual({ a: 1, c: [{}] })
  })

  it('a result of a tool may be any JSON', async () => {
    const value = { a: [1, 'x', null, true, { __proto: -0.5 }], '': '' }
    expect(await run(() => value)).toEqual(value)
    expect(await run(() => null)).toBeNull()
    expect(await run(() => JSON.parse('{"__proto__":{"a":1}}') as unknown)).toHaveProperty(['__proto__'], { a: 1 })
  })

  it('reports the issues of a result that does not fit the output schema', async () => {
    const output = z.object({ rows: z.array(z.object({ at: z.string() })) })
    const error = await failure(run(() => ({ rows: [{ at: new Date() }] }), { output }))
    expect(error).toMatchObject({
      code: 'TOOL_OUTPUT_INVALID',
      message: 'the result of a_tool does not fit its output schema:\n- rows[0].at: expected string, received Date',
      hint: 'Return date.toISOString().',
    })
  })

  it('lists at most ten issues of a result', async () => {
    const error = await failure(run(() => Array.from({ length: 5_000 }, () => 'x'), { output: z.array(z.number()) }))
    expect(error.message.split('\n')).toHaveLength(12)
    expect(error.message).toContain('- … and 4990 more')
  })

  it('rejects a circular result, also with a recursive schema', async () => {
    const Node = z.object({
      get next() {
        return Node.nullable()
      },
    })
    const loop: { next: unknown } = { next: null }
    loop.next = loop
    expect((await failure(run(() => loop, { output: Node }))).code).toBe('TOOL_OUTPUT_INVALID')
  })

  it('rejects a result over the limit, with its size and a hint', async () => {
    expect(await failure(run(() => 'x'.repeat(999)))).toMatchObject({
      code: 'TOOL_RESULT_TOO_LARGE',
      message: 'the result of a_tool has 1001 bytes; the limit is 1000',
      hint: expect.stringContaining('Return less'),
    })
    expect(await run(() => 'x'.repeat(998))).toHaveLength(998)
    expect((await failure(run(() => Array.from({ length: 100 }, () => 'é"\n'.repeat(200_000))))).message).toContain(
      `more than ${64 * 1024 * 1024} bytes`,
    )
  })
})
