import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Tool, ToolError } from '../../../../src/index.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../../support/environment/test-environment.js'
import { waitForAbort } from '../../../../src/common/async/abort.js'
import { Barrier, Deferred, tool } from '../../../support/tools.js'

/** The result of a call in code: its value, or its exception. */
async function observedByCode(called: Tool, options: TestEnvironmentOptions = {}): Promise<string> {
  const source = `
try:
    print("value", await ${called.name}())
except ToolError as error:
    print(type(error).__name__, error.status, error)
print("and on")
`
  const env = await TestEnvironment.start({ tools: [called], ...options })
  const { outcome } = await env.runProgram(source)
  expect(outcome).toMatchObject({ status: 'ok', output: expect.stringMatching(/\nand on\n$/) })
  return outcome.output.replace('\nand on\n', '')
}

const cyclic: Record<string, unknown> = {}
cyclic['self'] = { cyclic }
const once = { retry: { attempts: 1 } } as const

describe('invalid results of tools', () => {
  it.each<[string, unknown, RegExp]>([
    ['F29: 65 MB of text', 'x'.repeat(68_000_000), /^ToolError tool_error .*67108864/],
    ['F29: bytes', Buffer.from([0, 255, 1]), /^ToolError tool_error /],
    ['F29: undefined', undefined, /^ToolError tool_error .*undefined/],
    ['F29: a cyclic object', cyclic, /^ToolError tool_error /],
    ['a date', new Date(0), /^ToolError tool_error .*[Dd]ate/],
    ['a function in an object', { f: () => 1 }, /^ToolError tool_error /],
    ['NaN', Number.NaN, /^ToolError tool_error /],
    ['a bigint', 1n, /^ToolError tool_error /],
  ])(
    'an invalid result of a tool is an exception in the code, and the worker survives: %s',
    async (_what, value, expected) => {
      expect(await observedByCode(tool('give', () => value))).toMatch(expected)
    },
  )

  it('a result that violates the output schema is an exception in the code', async () => {
    const give = tool('give', () => ({ total: 'much' }), { output: z.object({ total: z.number() }) })
    expect(await observedByCode(give)).toMatch(/^ToolError tool_error .*give[^]*total: expected number/)
  })
})

describe('a result just under the limit', () => {
  it('a result just under the limit reaches the code unchanged, also several in one step', async () => {
    const env = await TestEnvironment.start({ tools: [tool('give', () => 'é'.repeat(500_000))] })
    const source = 'import asyncio\nprint([len(r) for r in await asyncio.gather(*(give() for _ in range(4)))])'
    expect((await env.runProgram(source)).outcome).toMatchObject({
      status: 'ok',
      output: '[500000, 500000, 500000, 500000]\n',
    })
  })
})

describe('a tool that fails', () => {
  it.each<[string, unknown, string]>([
    ['with a ToolError', new ToolError('no such employee'), 'no such employee'],
    ['F29: with text', 'just text', 'just text'],
    ['F29: with undefined', undefined, 'undefined was thrown'],
    ['F29: with an object', { code: 7 }, 'an object without a message was thrown'],
  ])('a tool that fails %s raises an exception that code can catch', async (_how, thrown, message) => {
    const fail = tool(
      'fail',
      () => {
        throw thrown
      },
      once,
    )
    expect(await observedByCode(fail)).toBe(`ToolError tool_error ${message}`)
  })

  it('a tool that fails a few times is retried with the same idempotency key', async () => {
    const keys: string[] = []
    const flaky = tool(
      'flaky',
      (_input, { idempotencyKey, attempt }) => {
        keys.push(idempotencyKey)
        if (attempt < 3) throw new Error(`attempt ${attempt}`)
        return `attempt ${attempt}`
      },
      { retry: { attempts: 3 } },
    )
    expect(await observedByCode(flaky)).toBe('value attempt 3')
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
  })

  it('a tool that fails each time fails after its maximum attempts', async () => {
    let attempts = 0
    const broken = tool(
      'broken',
      () => {
        attempts += 1
        throw new Error(`attempt ${attempts}`)
      },
      { retry: { attempts: 2 } },
    )
    expect(await observedByCode(broken)).toBe('ToolError tool_error attempt 2')
    expect(attempts).toBe(2)
  })

  it('a tool that fails with a ToolError is not retried', async () => {
    let attempts = 0
    const refusing = tool(
      'refusing',
      () => {
        attempts += 1
        throw new ToolError('no')
      },
      { retry: { attempts: 5 } },
    )
    expect(await observedByCode(refusing)).toBe('ToolError tool_error no')
    expect(attempts).toBe(1)
  })
})

describe('a tool that exceeds its timeout', () => {
  it('F28: a tool times out even when it ignores its signal', async () => {
    const deaf = tool('deaf', () => new Promise(() => undefined), { timeout: '300ms', ...once })
    expect(await observedByCode(deaf)).toBe('ToolTimedOut timed_out deaf did not answer within 300 ms')
  })

  it("F28: a 'once' tool that times out has an unknown outcome, and is not retried", async () => {
    let calls = 0
    const send = tool(
      'send',
      async (_input, { signal }) => {
        calls += 1
        await waitForAbort(signal)
      },
      { timeout: '300ms', effect: 'once' },
    )
    expect(await observedByCode(send)).toMatch(/^ToolOutcomeUnknown outcome_unknown send may or may not have happened/)
    expect(calls).toBe(1)
  })
})

describe("a tool that is 'once' and throws", () => {
  const unrepeatable = { effect: 'once' } as const

  it("a 'once' tool that throws has an unknown outcome: the effect may have happened before the error", async () => {
    const send = tool('send', () => Promise.reject(new Error('socket hang up')), unrepeatable)
    expect(await observedByCode(send)).toBe(
      'ToolOutcomeUnknown outcome_unknown send may or may not have happened: socket hang up. It is not repeated by itself.',
    )
  })

  it("a 'once' tool that throws a ToolError has failed without effect", async () => {
    const send = tool('send', () => Promise.reject(new ToolError('the address is unknown')), unrepeatable)
    expect(await observedByCode(send)).toBe('ToolError tool_error the address is unknown')
  })
})

it('idempotency keys are unique for each call, and reveal nothing about the arguments', async () => {
  const keys: string[] = []
  const note = tool('note', (_input, { idempotencyKey }) => keys.push(idempotencyKey))
  const env = await TestEnvironment.start({ tools: [note] })
  const source = 'import asyncio\nawait asyncio.gather(note(a=1), note(a=1), note(a=2))\nawait note(a=1)'
  await env.runProgram(source)
  await env.runProgram(source)
  expect(new Set(keys).size).toBe(8)
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/)
})

describe('limits of calls', () => {
  it('callsInFlight is never exceeded, and further calls are queued', async () => {
    let now = 0
    let most = 0
    const three = new Barrier(3)
    const busy = tool('busy', async () => {
      most = Math.max(most, (now += 1))
      await three.arrive()
      await new Promise((resolve) => setTimeout(resolve, 30)) // time for a fourth call, which must not start
      now -= 1
      return null
    })
    const env = await TestEnvironment.start({ tools: [busy], limits: { callsInFlight: 3 } })
    const source = 'import asyncio\nprint(len(await asyncio.gather(*(busy() for _ in range(12)))))'
    expect(await env.runProgram(source)).toMatchObject({ outcome: { status: 'ok', output: '12\n' }, toolCalls: 12 })
    expect(most).toBe(3)
  })

  it('a cell over callsPerCell ends', async () => {
    const env = await TestEnvironment.start({ tools: [tool('ping', () => 'pong')], limits: { callsPerCell: 5 } })
    const { outcome, toolCalls } = await env.runProgram('for n in range(10):\n    await ping()\n    print(n)')
    expect(outcome).toMatchObject({
      status: 'limit_exceeded',
      error: expect.stringContaining('more than 5 tool calls'),
      sessionKept: true,
    })
    expect(outcome.output).toBe('0\n1\n2\n3\n4\n')
    expect(toolCalls).toBe(5)
  })

  it('a call over callsPerRun is refused, which code can catch', async () => {
    const env = await TestEnvironment.start({ tools: [tool('ping', () => 'pong')], limits: { callsPerRun: 2 } })
    const source =
      'for n in range(3):\n    try:\n        print(await ping())\n    except ToolDenied as error:\n        print(error)'
    const { outcome, toolCalls } = await env.runProgram(source)
    expect(outcome.output).toBe('pong\npong\nthe run has used up its 2 tool calls\n')
    expect(toolCalls).toBe(2)
  })

  it('a run can set its own limits, which every part enforces', async () => {
    const env = await TestEnvironment.start({ tools: [tool('give', () => 'x'.repeat(5_000))] })
    const { outcome } = await env.runProgram('try:\n    await give()\nexcept ToolError as error:\n    print(error)', {
      limits: { resultBytes: 1_000 },
    })
    expect(outcome).toMatchObject({ status: 'ok', output: expect.stringContaining('1000') })
  })

  it.each<[string, object, string]>([
    ['an unknown limit', { turnz: 1 }, 'turnz'],
    ['a negative limit', { turns: -1 }, 'turns'],
    ['a fraction of a turn', { turns: 1.5 }, 'turns'],
    ['a limit over the maximum', { resultBytes: 5_000_000_000 }, 'resultBytes'],
    ['a limit that is no number', { callsInFlight: 'many' }, 'callsInFlight'],
  ])('a run that requests %s fails at once with a typed error', async (_what, limits, message) => {
    const env = await TestEnvironment.start()
    const handle = await env.startProgram('print(1)', { limits })
    await expect(handle.result()).rejects.toMatchObject({
      cause: { cause: { type: 'RUN_INPUT_INVALID', message: expect.stringContaining(message) } },
    })
  })
})

it('arguments over their limit are refused in the call', async () => {
  const env = await TestEnvironment.start({ tools: [tool('take', () => null)], limits: { argumentBytes: 1_000 } })
  const { outcome } = await env.runProgram(
    'try:\n    await take(text="x" * 2000)\nexcept ValueError as error:\n    print(error)',
  )
  expect(outcome.output).toContain('the limit is 1000')
})

it('a call gets its arguments from the moment of the call; later changes have no effect', async () => {
  const got = new Deferred<unknown>()
  const env = await TestEnvironment.start({ tools: [tool('take', ({ rows }) => got.resolve(rows))] })
  await env.runProgram(
    'rows = [1]\ncall = take(rows=rows)\nimport asyncio\ntask = asyncio.ensure_future(call)\nawait asyncio.sleep(0)\nrows.append(2)\nawait task',
  )
  expect(await got.promise).toEqual([1])
})
