import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ToolCallInput } from '../../common/calls/calls.js'
import { PtcError } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import { defaultLimits } from '../../common/run/limits.js'
import { defineTool } from '../define-tool.js'
import { createRegistry } from '../registry.js'
import { runTool } from './run-tool.js'
import type { ToolRunContext } from './run-tool.js'
import { ToolError } from '../tool-error.js'
import type { ToolContext } from '../tool-context.js'
import type { ToolDefinition } from '../tool-definition.js'

type Definition = ToolDefinition<z.ZodObject, z.ZodType>

const base = {
  name: 'a_tool',
  description: 'x',
  input: z.object({}) as z.ZodObject,
  output: z.unknown() as z.ZodType,
  effect: 'read',
} as const

const logged: unknown[] = []
const note = (...entry: unknown[]) => void logged.push(entry)
const context = (signal: AbortSignal = new AbortController().signal): ToolRunContext => ({
  signal,
  attempt: 2,
  heartbeat: note,
  log: { debug: note, info: note, warn: note, error: note },
  run: { namespace: 'default', workflowId: 'w', runId: 'r', agent: undefined },
  context: {},
})

const call: ToolCallInput = {
  tool: 'a_tool',
  caller: 'code_execution',
  position: { turn: 1, cell: 1, index: 1 },
  idempotencyKey: 'key-1',
  arguments: {},
}

function run(
  run: Definition['run'],
  changes: Partial<Definition> = {},
  made: Partial<ToolCallInput> = {},
  ctx = context(),
): Promise<JsonValue> {
  const tool = defineTool({ ...base, run, ...changes })
  return runTool(createRegistry([tool]), { ...call, ...made }, { ...defaultLimits, resultBytes: 1_000 }, ctx)
}

async function failure(running: Promise<unknown>): Promise<PtcError> {
  const thrown: unknown = await running.then(
    (value) => new Error(`it gave ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  if (PtcError.isInstance(thrown)) return thrown
  throw thrown
}

describe('runTool', () => {
  it('passes parsed input and context to the tool, and returns its parsed output', async () => {
    let seen: ToolContext | undefined
    const result = await run(
      (input, given) => {
        seen = given
        given.heartbeat('half')
        return { at: new Date(0), ...input }
      },
      {
        input: z.object({ n: z.int().default(7) }),
        output: z.object({
          n: z.int(),
          at: z
            .date()
            .transform((at) => at.toISOString())
            .pipe(z.string()),
        }),
      },
    )
    expect(result).toEqual({ n: 7, at: '1970-01-01T00:00:00.000Z' })
    expect(seen).toMatchObject({ idempotencyKey: 'key-1', caller: 'code_execution', attempt: 2 })
  })

  it('passes heartbeat details on as JSON, and refuses details that are invalid or too large', async () => {
    const cyclic: { self?: object } = {}
    cyclic.self = cyclic
    logged.length = 0
    await run((_input, { heartbeat }) => {
      for (const details of [1n, cyclic, 'x'.repeat(200_000)]) expect(() => heartbeat(details)).toThrow()
      const page = { number: 1, at: new Date(0), half: '\ud83d' }
      heartbeat(page)
      page.number = 2
      heartbeat()
      return null
    })
    expect(logged).toEqual([[{ number: 1, at: '1970-01-01T00:00:00.000Z', half: '\ud83d' }], [undefined]])
  })

  it('running a tool refuses unknown tools, callers that are not allowed, and invalid arguments', async () => {
    const never = () => {
      throw new Error('it ran')
    }
    expect((await failure(run(never, {}, { tool: 'constructor' }))).code).toBe('TOOL_UNKNOWN')
    expect((await failure(run(never, { allowedCallers: ['direct'] }))).code).toBe('TOOL_NOT_ALLOWED')
    const broken = await failure(run(never, {}, { arguments: { extra: 1 } }))
    expect(broken).toMatchObject({
      code: 'TOOL_INPUT_INVALID',
      retryable: false,
      message: 'The arguments do not fit a_tool:\n- Unrecognized key: "extra"',
    })
    expect(
      (await failure(run(never, { input: z.looseObject({}) }, { arguments: { x: 'x'.repeat(300_000) } }))).code,
    ).toBe('TOOL_INPUT_INVALID')
  })

  it('running a tool awaits asynchronous checks of the input', async () => {
    const input = z.object({ id: z.string().refine(async (id) => id === 'known', 'nobody has that id') })
    expect(await run(() => 'ok', { input }, { arguments: { id: 'known' } })).toBe('ok')
    expect((await failure(run(() => 'ok', { input }, { arguments: { id: 'x' } }))).message).toContain(
      'id: nobody has that id',
    )
  })
})

describe('the timeout of a tool', () => {
  it('the timeout of a tool applies even when the tool ignores its signal', async () => {
    let signal: AbortSignal | undefined
    const error = await failure(
      run((_input, given) => ((signal = given.signal), new Promise(() => {})), { timeout: 20 }),
    )
    expect(error).toMatchObject({
      code: 'TOOL_TIMED_OUT',
      retryable: true,
      message: 'a_tool did not answer within 20 ms',
    })
    expect(signal?.aborted).toBe(true)
    expect(signal?.reason).toBe(error)
  })

  it("the timeout of a tool is reported instead of the tool's abort error", async () => {
    const error = await failure(run((_input, { signal }) => delay(60_000, undefined, { signal }), { timeout: 20 }))
    expect(error.code).toBe('TOOL_TIMED_OUT')
  })

  it('the timeout of a tool does not delay a cancellation, which rejects with the reason', async () => {
    const controller = new AbortController()
    const reason = new Error('cancelled by Temporal')
    const running = run(
      () => {
        controller.abort(reason)
        return new Promise(() => {})
      },
      {},
      {},
      context(controller.signal),
    )
    await expect(running).rejects.toBe(reason)
    await expect(run(() => 'ran', {}, {}, context(AbortSignal.abort(reason)))).rejects.toBe(reason)
  })
})

describe('an error of a tool', () => {
  it('a ToolError of any copy of the package is TOOL_REFUSED', async () => {
    const foreign = Object.assign(new Error('No such employee'), { [Symbol.for('durable-ptc.tool-error')]: true })
    for (const thrown of [new ToolError('No such employee'), foreign]) {
      expect(
        await failure(
          run(() => {
            throw thrown
          }),
        ),
      ).toMatchObject({ code: 'TOOL_REFUSED', retryable: false, message: 'No such employee' })
    }
  })

  it('an error has the paths of a ToolError, whose message is for the caller, but not those of its cause', async () => {
    const message = "ENOENT: '/etc/passwd' and C:\\data\\x.csv are not in /srv/app/data"
    const cause = new Error("open '/srv/app/secret/key.pem'")
    const thrown = new ToolError(message, { cause })
    const refused = await failure(
      run(() => {
        throw thrown
      }),
    )
    expect(refused.message).toBe(`${message}: open '…/key.pem'`)
  })

  const cyclic: Record<string, unknown> = { code: 7 }
  cyclic['self'] = cyclic
  const hostile = new Proxy(
    {},
    {
      has: () => {
        throw new Error('trap')
      },
      get: () => {
        throw new Error('trap')
      },
    },
  )
  it.each<[string, unknown, string]>([
    ['an error', new Error('database is down'), 'database is down'],
    [
      'an error with a cause',
      new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') }),
      'fetch failed: connect ECONNREFUSED 127.0.0.1:1',
    ],
    ['an error without a message', new RangeError(), 'RangeError'],
    ['an error that only has a code', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    ['text', 'just text', 'just text'],
    ['undefined', undefined, 'undefined was thrown'],
    ['null', null, 'null was thrown'],
    ['a symbol', Symbol('s'), 'Symbol(s) was thrown'],
    ['a cyclic object', cyclic, 'an object without a message was thrown'],
    ['an object without a prototype', Object.create(null), 'an object without a message was thrown'],
    ['a proxy that throws', hostile, 'something was thrown that can not be read'],
    ['a PtcError', new PtcError('CONFIG_INVALID', 'mine'), 'mine'],
  ])('a tool may throw %s: its message is returned, and the call may be retried', async (_what, thrown, message) => {
    const expected = { code: 'TOOL_FAILED', retryable: true, message }
    expect(
      await failure(
        run(() => {
          throw thrown
        }),
      ),
    ).toMatchObject(expected)
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    expect(await failure(run(() => Promise.reject(thrown)))).toMatchObject(expected)
  })

  it('an error of a tool contains no stack and no path of the host, but URLs', async () => {
    const message = `ENOENT: open '${process.cwd()}/secret/data.csv', file:///home/me/app/x.js:3, C:\\Users\\me\\y.txt, GET https://api.example.com/home/users/7, /api/v1/users`
    const error = await failure(
      run(() => {
        throw new Error(message)
      }),
    )
    expect(error.message).toBe(
      "ENOENT: open '…/data.csv', …/x.js:3, …/y.txt, GET https://api.example.com/home/users/7, /api/v1/users",
    )
    expect(error.cause).toBeUndefined()
  })

  it("an error of a tool has the tool's stack, without paths of the host, for the Temporal UI", async () => {
    const error = await failure(
      run(function fetchRate() {
        throw new TypeError('no rate', { cause: new Error('refused') })
      }),
    )
    expect(error.stack).toMatch(
      /^TypeError: no rate: refused\n\s+at \S*fetchRate.* \(src\/tools\/calls\/run-tool\.test\.ts:\d+:\d+\)$/,
    )
    expect(error.stack).not.toContain(process.cwd())
    expect(error.stack).not.toContain('run-tool.ts')
    const stack = expect.stringMatching(/TypeError: no rate\n[^]*Caused by: Error: refused\n/)
    expect(logged.at(-1)).toEqual(['a_tool threw', { attempt: 2, stack }])
  })

  it('an error of a tool is truncated, and its stack is logged', async () => {
    logged.length = 0
    const error = await failure(
      run(() => {
        throw new Error('x'.repeat(100_000))
      }),
    )
    expect(error.message.length).toBeLessThanOrEqual(2_000)
    expect(logged).toEqual([['a_tool threw', { attempt: 2, stack: expect.stringContaining('run-tool.test.ts') }]])
  })

  it.each([
    ['a string', 'out of paper', 'out of paper'],
    ['an error without a stack', Object.assign(new Error('out of ink'), { stack: '' }), 'out of ink'],
    ['undefined', undefined, 'undefined was thrown'],
  ])('an error of a tool without a stack is logged: %s', async (_, thrown, stack) => {
    logged.length = 0
    await failure(
      run(() => {
        throw thrown
      }),
    )
    expect(logged).toEqual([['a_tool threw', { attempt: 2, stack }]])
  })
})
