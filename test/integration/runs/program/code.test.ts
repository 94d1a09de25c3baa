import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ProgramResult } from '../../../../src/common/run/runs.js'
import { evictedSandboxes } from '../../../support/mode.js'
import { answerResult, code, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'

const echo = tool('echo', ({ value }) => value)

async function outputOf(source: string, tools = [echo]): Promise<string> {
  const env = await TestEnvironment.start({ tools })
  const { outcome } = await env.runProgram(source)
  expect(outcome).toMatchObject({ status: 'ok' })
  return outcome.output
}

describe('a program', () => {
  it('a program outputs only what it prints', async () => {
    expect(await outputOf('x = await echo(value=[1, {"a": None}])\n"unseen"\nprint(x[1]["a"], len(x))\nx')).toBe(
      'None 2\n',
    )
  })

  it('a program that forgets an await gets a hint', async () => {
    // Only when the code runs it is known that the loop is not empty.
    expect(await outputOf('for n in [1] * 2:\n    echo(value=n)\nprint("end")')).toMatch(
      /^end\n\[hint\] echo\(\) was called but never awaited/,
    )
  })

  it('a program with a certain mistake makes no call, unless the configuration switches the check off', async () => {
    const source = 'await echo(value=1)\nawait echo(valu=2)'
    const tools = [tool('echo', ({ value }) => value, { input: z.object({ value: z.number() }) })]
    const env = await TestEnvironment.start({ tools })
    expect((await env.runProgram(source)).outcome).toMatchObject({
      status: 'code_error',
      output: '',
      error: [
        'The code was checked before it ran, and nothing of it was executed:',
        "line 2: TypeError: echo() is missing 'value'; it takes (value)",
        "line 2: echo() has no argument 'valu'; it takes (value). Did you mean 'value'?",
      ].join('\n'),
    })
    const unchecked = await TestEnvironment.start({ tools, checkCode: false })
    const { outcome } = await unchecked.runProgram(source)
    expect(outcome).toMatchObject({ status: 'code_error', error: expect.stringMatching(/^Traceback[^]*line 2, in/) })
  })

  it('a program that raises gets a traceback of its own lines', async () => {
    const env = await TestEnvironment.start({ tools: [echo] })
    const { outcome } = await env.runProgram(
      'print("before")\nasync def inner():\n    return (await echo(value={}))["no"]\nawait inner()',
    )
    expect(outcome).toMatchObject({
      status: 'code_error',
      output: 'before\n',
      error: expect.stringMatching(
        /^Traceback[^]*"<cell 1>", line 4[^]*"<cell 1>", line 3, in inner[^]*\nKeyError: 'no'$/,
      ),
    })
    expect(outcome).not.toMatchObject({ error: expect.stringContaining('ptc_runner') })
  })

  it('a program nests gather, as_completed and loops around calls', async () => {
    const source = `
import asyncio
async def pair(n):
    return sum(await asyncio.gather(echo(value=n), echo(value=n * 10)))
total = 0
for next_done in asyncio.as_completed([pair(n) for n in range(10)]):
    total += await next_done
    if total < 0: break
rows = await asyncio.gather(*(asyncio.gather(*(echo(value=[r, c]) for c in range(3))) for r in range(3)))
print(total, rows[2][1])
`
    expect(await outputOf(source)).toBe('495 [2, 1]\n')
  })

  it('a program makes 100 calls in parallel', async () => {
    const arrived = new Set<unknown>()
    const all = new Deferred()
    const meet = async (value: unknown) => {
      if (arrived.add(value).size === 100) all.resolve()
      await all.promise
      return value
    }
    const source = 'import asyncio\nprint(sum(await asyncio.gather(*(meet(value=n) for n in range(100)))))'
    // A slow machine may take long until all calls are running.
    const env = await TestEnvironment.start({ tools: [tool('meet', ({ value }) => meet(value), { timeout: '10m' })] })
    expect(await env.runProgram(source)).toMatchObject({ outcome: { status: 'ok', output: '4950\n' }, toolCalls: 100 })
  })

  it('a program continues with the first result while a slower call is open (as_completed)', async () => {
    const released = new Deferred<null>()
    const slow = tool('slow', () => released.promise)
    const release = tool('release', () => released.resolve(null))
    const source = `
import asyncio
async def named(name, call):
    await call
    return name
order = []
for done in asyncio.as_completed([named("slow", slow()), named("echo", echo(value=1))]):
    order.append(await done)
    if len(order) == 1: await release()
print(order)
`
    expect(await outputOf(source, [echo, slow, release])).toBe("['echo', 'slow']\n")
  })

  it('a program parks while it sleeps: a durable timer, no activity', async () => {
    const env = await TestEnvironment.start({ tools: [echo] })
    const { outcome } = await env.runProgram(
      'import asyncio, time\na = time.time()\nawait asyncio.sleep(3)\nprint("slept")',
    )
    expect(outcome).toMatchObject({ status: 'ok', output: 'slept\n' })
    const { events } = await env.history()
    const timers = events.flatMap(({ timerStartedEventAttributes: timer }) => (timer ? [timer] : []))
    expect(timers).toHaveLength(1)
    expect(Number(timers[0]?.startToFireTimeout?.seconds)).toBeGreaterThanOrEqual(2)
  })

  it('a program can cancel a slow tool with asyncio.timeout, and continues', async () => {
    const never = tool(
      'never',
      (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    )
    const source = `
import asyncio
try:
    async with asyncio.timeout(1.5):
        await never()
except TimeoutError:
    print("gave up", await echo(value=1))
`
    expect(await outputOf(source, [echo, never])).toBe('gave up 1\n')
  })

  it('a program that prints endlessly outputs head and tail', async () => {
    const env = await TestEnvironment.start({ limits: { outputCharacters: 1_000 } })
    const { outcome } = await env.runProgram('print("HEAD")\nfor _ in range(200_000): print("x" * 80)\nprint("TAIL")')
    expect(outcome).toMatchObject({ status: 'ok' })
    expect(outcome.output.length).toBeLessThan(1_100)
    expect(outcome.output).toMatch(/^HEAD\n[^]*characters cut[^]*TAIL\n$/)
  })

  it('a program can print lone surrogates, control characters and text that looks like a frame', async () => {
    const source = 'print("\\ud800 \\x00\\x1b[31m")\nprint(\'\\x00\\x00\\x00\\x02{}\', flush=True)'
    expect(await outputOf(source)).toContain('{}')
  })

  it('a program over the size limit is refused before a sandbox is opened', async () => {
    const env = await TestEnvironment.start({ limits: { sourceBytes: 100 } })
    const { outcome } = await env.runProgram(`# ${'é'.repeat(60)}`)
    expect(outcome).toMatchObject({
      status: 'limit_exceeded',
      error: 'the code has 122 bytes, the limit is 100. Send it in parts.',
    })
    expect((await env.activities()).map(({ type }) => type)).toEqual(['run.config'])
  })

  it('a program that is invalid Python, or empty, reports that', async () => {
    const env = await TestEnvironment.start()
    expect((await env.runProgram('def (:')).outcome).toMatchObject({
      status: 'code_error',
      error: expect.stringMatching(/SyntaxError/),
    })
    expect((await env.runProgram('')).outcome).toMatchObject({ status: 'ok', output: '' })
  })

  it('a program that ends its own process is repeated once, and reports that', async () => {
    const env = await TestEnvironment.start({ tools: [echo] })
    const handle = await env.startProgram('import os\nawait echo(value=1)\nos._exit(3)')
    const reason = 'the code ended its process with exit code 3, as os._exit() does; exit() ends only the cell'
    expect(await handle.result()).toMatchObject({ outcome: { status: 'lost', error: reason }, toolCalls: 1 })
    const { events } = await env.history(handle)
    const opened = events.filter(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'session.open',
    )
    expect(opened).toHaveLength(2 + evictedSandboxes(1))
  })

  it('a program that awaits a future without a result ends, and does not hang', async () => {
    const env = await TestEnvironment.start()
    const { outcome } = await env.runProgram('import asyncio\nawait asyncio.get_running_loop().create_future()')
    expect(outcome).toMatchObject({ status: 'code_error', error: expect.stringContaining('can never happen') })
  })
})

describe('state', () => {
  it('the cells of a run share their state', async () => {
    const env = await TestEnvironment.start({
      tools: [echo],
      script: [
        turn(code('import math\ndef double(n): return 2 * n\nkept = await echo(value=[1])')),
        turn(code('kept.append(double(math.floor(2.5)))\nprint(kept)')),
        answerResult,
      ],
    })
    expect(await env.runAgent()).toMatchObject({ answer: '[1, 4]', cells: 2 })
  })

  it('a later cell can await a background task of an earlier cell', async () => {
    const released = new Deferred<string>()
    const slow = tool('slow', () => released.promise)
    const release = tool('release', () => released.resolve('the late result'))
    const env = await TestEnvironment.start({
      tools: [slow, release],
      script: [
        turn(code('import asyncio\ntask = asyncio.create_task(slow())\nawait asyncio.sleep(0)\nprint("started")')),
        turn(code('await release()\nprint(await task)')),
        answerResult,
      ],
    })
    expect(await env.runAgent()).toMatchObject({ answer: 'the late result', cells: 2, toolCalls: 2 })
  })
})

it('two concurrent runs share no state', async () => {
  const env = await TestEnvironment.start({ tools: [echo] })
  const handles = await Promise.all([1, 2, 3].map((n) => env.startProgram(`v = await echo(value=${n})\nprint(v)`)))
  const results = (await Promise.all(handles.map((handle) => handle.result()))) as ProgramResult[]
  expect(results.map(({ outcome }) => outcome.output)).toEqual(['1\n', '2\n', '3\n'])
})
