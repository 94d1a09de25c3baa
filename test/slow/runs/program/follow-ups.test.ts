import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type Tool, ToolError } from '../../../../src/index.js'
import { waitForAbort } from '../../../../src/common/async/abort.js'
import { scheduledActivities } from '../../../support/environment/histories.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../../support/environment/test-environment.js'
import { waitForActivity } from '../../../support/environment/waits.js'
import { inMode } from '../../../support/mode.js'
import { tool } from '../../../support/tools.js'

const local = { execution: 'local', effect: 'read' } as const
const look = tool('look', ({ n }) => n, local)

/** In these modes no worker is connected to the sandbox when a call ends. */
const losesConnections = inMode('always-evict') || inMode('always-reattach')

/** The activities of a program between opening and closing its session. The last one may have closed it. */
async function activitiesOf(env: TestEnvironment): Promise<readonly string[]> {
  const types = scheduledActivities(await env.history()).map(({ type }) => type)
  return types.slice(types.indexOf('session.open') + 1).filter((type) => type !== 'session.close')
}

async function run(tools: readonly Tool[], source: string, options: TestEnvironmentOptions = {}) {
  const env = await TestEnvironment.start({ tools, ...options })
  const { outcome } = await env.runProgram(source)
  return { outcome, activities: await activitiesOf(env) }
}

describe.skipIf(losesConnections)('the activity of a call', () => {
  it('the activity of a call executes the next step when its worker has the sandbox', async () => {
    const { outcome, activities } = await run(
      [tool('count', ({ n }) => n)],
      'print([await count(n=n) for n in range(5)])',
    )
    expect(outcome).toMatchObject({ status: 'ok', output: '[0, 1, 2, 3, 4]\n' })
    expect(activities).toEqual(Array.from({ length: 5 }, () => 'count'))
  })

  it.each<[string, Tool, TestEnvironmentOptions]>([
    [
      'the sandbox is in another process',
      tool('count', ({ n }) => n),
      { initialWorkers: [{ roles: ['workflow', 'tools'] }, { roles: ['sandbox'] }] },
    ],
    ['the effect must be recorded first', tool('count', ({ n }) => n, { effect: 'once' }), {}],
    ['the result is large', tool('count', () => 'x'.repeat(100_000)), {}],
  ])('the activity of a call leaves the step to the host when %s', async (_case, count, options) => {
    const { outcome, activities } = await run([count], 'print(len([await count(n=n) for n in range(3)]))', options)
    expect(outcome).toMatchObject({ status: 'ok', output: '3\n' })
    const step = 'session.step'
    expect(activities).toEqual(['count', step, 'count', step, 'count', step])
  })

  it.each([
    ['waits for a timer, too', 'await asyncio.wait_for(count(n=1), 60)'],
    ['makes several calls at once', 'await asyncio.gather(count(n=1), count(n=2))'],
  ])('the activity of a call leaves the step to the host when the code %s', async (_case, statement) => {
    const { outcome, activities } = await run([tool('count', ({ n }) => n)], `import asyncio\nprint(${statement})`)
    expect(outcome.status).toBe('ok')
    expect(activities.at(-1)).toBe('session.step')
  })

  it('the activity of a call ends without the step when the code runs long and may be interrupted', async () => {
    const count = tool('count', ({ n }) => n)
    const env = await TestEnvironment.start({ tools: [count], limits: { cellSeconds: 60 } })
    const handle = await env.startProgram('await count(n=1)\nwhile True: pass')
    await waitForActivity(handle, 'session.step')
    await handle.cancel()
    await expect(handle.result()).rejects.toThrow()
    await expect.poll(() => env.containers(handle), { timeout: 30_000 }).toEqual([])
  })

  it('the activity of a call records the time at which the worker executed the step', async () => {
    const slow = tool('slow', () => delay(300, null))
    const source = 'import time\na = time.time()\nawait slow()\nprint(0.3 <= time.time() - a < 2)'
    const { outcome, activities } = await run([slow], source)
    expect(outcome).toMatchObject({ status: 'ok', output: 'True\n' })
    expect(activities).toEqual(['slow'])
  })

  it('the activity of a call counts the time of earlier attempts', async () => {
    let attempts = 0
    const flaky = tool('flaky', () => {
      attempts += 1
      if (attempts < 3) throw new Error('again')
      return null
    })
    const source = 'import time\na = time.time()\nawait flaky()\nprint(time.time() - a > 1)'
    expect(await run([flaky], source)).toMatchObject({
      outcome: { status: 'ok', output: 'True\n' },
      activities: ['flaky'],
    })
  })
})

describe.skipIf(losesConnections)("calls of a tool with execution 'local'", () => {
  it('a hundred local calls need a few activities, and are shown like other calls', async () => {
    const env = await TestEnvironment.start({ tools: [look] })
    const { outcome } = await env.runProgram('print(sum([await look(n=n) for n in range(100)]))')
    expect(outcome).toMatchObject({ status: 'ok', output: '4950\n' })
    const activities = await activitiesOf(env)
    expect(activities.length).toBeLessThan(20)
    const tree = await env.ptc.handle(env.lastRun.workflowId).tree()
    const calls = tree.turns[0]?.cells[0]?.calls ?? []
    expect(calls.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 'ok'))
    expect(calls[41]).toMatchObject({
      tool: 'look',
      arguments: { n: 41 },
      resultPreview: '41',
      position: { index: 42 },
    })
    expect(tree.totals.toolCalls).toBe(100)
  })

  it('local calls follow a call in its activity', async () => {
    const source = 'n = await count(n=1)\nfor _ in range(3): n += await look(n=n)\nprint(n, await count(n=n))'
    const { outcome, activities } = await run([look, tool('count', ({ n }) => n)], source)
    expect(outcome).toMatchObject({ status: 'ok', output: '8 8\n' })
    expect(activities).toEqual(['session.step', 'count', 'count'])
  })

  it('local calls are not made again when the run continues as new', async () => {
    const found: unknown[] = []
    const find = tool(
      'find',
      ({ n }) => {
        found.push(n)
        return n
      },
      local,
    )
    const env = await TestEnvironment.start({
      tools: [find, tool('count', ({ n }) => n)],
      limits: { historyEvents: 100 },
    })
    const source = 'for n in range(1, 41):\n    await count(n=await find(n=n))\n    await find(n=-n)\nprint("end")'
    expect((await env.runProgram(source)).outcome).toMatchObject({ status: 'ok', output: 'end\n' })
    expect((await env.executionHistories()).length).toBeGreaterThan(1)
    expect(found).toEqual(Array.from({ length: 40 }, (_, n) => [n + 1, -n - 1]).flat())
    const types = (await env.chainActivities()).map(({ type }) => type)
    expect(types.filter((type) => type === 'session.open')).toHaveLength(1)
    expect(types.filter((type) => type === 'find')).toEqual([])
  })

  it.each([{}, { callsInFlight: 2 }])(
    'local calls are made at once when the code makes them at once (%j)',
    async (limits) => {
      const slow = tool('slow', ({ n }) => delay(100, n), local)
      const source = 'import asyncio\nprint(sum(await asyncio.gather(*[slow(n=n) for n in range(20)])))'
      const { outcome, activities } = await run([slow], source, { limits })
      expect(outcome).toMatchObject({ status: 'ok', output: '190\n' })
      expect(activities).toEqual(['session.step'])
    },
  )

  it('local calls are recorded before a call with an effect begins', async () => {
    const recorded: string[][] = []
    const pay = tool(
      'pay',
      async () => {
        const calls = (await env.ptc.handle(env.lastRun.workflowId).tree()).turns[0]?.cells[0]?.calls ?? []
        recorded.push(calls.map(({ tool: name, status }) => `${name} ${status}`))
        return null
      },
      { effect: 'once' },
    )
    const env: TestEnvironment = await TestEnvironment.start({ tools: [look, pay] })
    await env.runProgram('for n in range(3): await look(n=n)\nawait pay()')
    expect(recorded).toEqual([['look ok', 'look ok', 'look ok', 'pay running']])
  })

  it('local calls count with ordinary calls for the limit of a run, without a rebuild', async () => {
    const source = 'await count(n=1)\nfor n in range(10): await look(n=n)'
    const tools = [look, tool('count', ({ n }) => n)]
    const { outcome, activities } = await run(tools, source, { limits: { callsPerRun: 10 } })
    expect(outcome).toMatchObject({ error: expect.stringContaining('the run has used up its 10 tool calls') })
    expect(activities).toEqual(['session.step', 'count', 'session.step'])
  })

  it.each([
    ['a cell', { callsPerCell: 10 }, 'limit_exceeded', 'more than 10 tool calls in one cell'],
    ['a run', { callsPerRun: 10 }, 'code_error', 'the run has used up its 10 tool calls'],
  ])('local calls count for the limit of %s', async (_case, limits, status, error) => {
    const { outcome } = await run([look], 'for n in range(11): print(await look(n=n))', { limits })
    expect(outcome).toMatchObject({ status, error: expect.stringContaining(error) })
    expect(outcome.output.trimEnd().split('\n')).toHaveLength(10)
  })

  it.each<[string, (signal: AbortSignal) => Promise<number>]>([
    ['fail', () => Promise.reject(new Error('first'))],
    ['take long', (signal) => waitForAbort(signal).then(() => 0)],
    ['return much', () => Promise.resolve('x'.repeat(100_000) as unknown as number)],
  ])('local calls that %s are repeated as activities', async (_case, firstAttempt) => {
    let attempts = 0
    const flaky = tool(
      'flaky',
      (_input, { signal }) => {
        attempts += 1
        return attempts === 1 ? firstAttempt(signal) : attempts
      },
      local,
    )
    const { outcome, activities } = await run([flaky], 'print(await flaky())')
    expect(outcome).toMatchObject({ status: 'ok', output: '2\n' })
    expect(activities).toEqual(['session.step', 'flaky'])
  })

  it('refused local calls raise in the code, after an activity', async () => {
    const refuse = tool('refuse', () => Promise.reject(new ToolError('no such key')), local)
    const source = 'try:\n    await refuse()\nexcept ToolError as error:\n    print(error.status, error)'
    const { outcome, activities } = await run([refuse], source)
    expect(outcome).toMatchObject({ status: 'ok', output: 'tool_error no such key\n' })
    expect(activities).toEqual(['session.step', 'refuse', 'session.step'])
  })

  it('local calls are activities when the worker of the sandbox has no tools', async () => {
    const initialWorkers = [{ roles: ['workflow', 'sandbox'] }, { roles: ['tools'] }] as const
    const { outcome, activities } = await run([look], 'print([await look(n=n) for n in range(4)])', { initialWorkers })
    expect(outcome).toMatchObject({ status: 'ok', output: '[0, 1, 2, 3]\n' })
    expect(activities.filter((name) => name === 'look')).toHaveLength(4)
  })

  it('local calls leave an activity after about half a second', async () => {
    const slow = tool('slow', () => delay(100, null), local)
    const { activities } = await run([slow], 'for n in range(20): await slow()')
    expect(activities.length).toBeGreaterThanOrEqual(4)
    expect(activities.length).toBeLessThanOrEqual(12)
  })
})
