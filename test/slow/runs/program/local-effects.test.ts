import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { AuditEvent } from '../../../../src/index.js'
import { ToolError } from '../../../../src/index.js'
import { waitForAbort } from '../../../../src/common/async/abort.js'
import { scheduledActivities } from '../../../support/environment/histories.js'
import { resetToCall } from '../../../support/environment/reset.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../../support/environment/test-environment.js'
import { TestSession } from '../../../support/environment/test-session.js'
import { randomKey } from '../../../support/encryption.js'
import { inMode } from '../../../support/mode.js'
import { Deferred, tool } from '../../../support/tools.js'

const local = { execution: 'local', effect: 'idempotent' } as const
const once = { execution: 'local', effect: 'once' } as const

/** In these modes no worker is connected to the sandbox when a call ends. */
const losesConnections = inMode('always-evict') || inMode('always-reattach')

/** The activities of a program between opening and closing its session. The last one may have closed it. */
async function activitiesOf(env: TestEnvironment): Promise<readonly string[]> {
  const types = scheduledActivities(await env.history()).map(({ type }) => type)
  return types.slice(types.indexOf('session.open') + 1).filter((type) => type !== 'session.close')
}

const start = (options: TestEnvironmentOptions) => TestEnvironment.start(options)

describe.skipIf(losesConnections)('local calls with effects', () => {
  it.each([local, once])(
    'a loop of calls has no activity for each, and is shown like other calls: %j',
    async (kind) => {
      const env = await start({ tools: [tool('mark', ({ n }) => n, kind)] })
      const { outcome } = await env.runProgram('print(sum([await mark(n=n) for n in range(30)]))')
      expect(outcome).toMatchObject({ status: 'ok', output: '435\n' })
      expect((await activitiesOf(env)).length).toBeLessThan(15)
      const tree = await env.ptc.handle(env.lastRun.workflowId).tree()
      const calls = tree.turns[0]?.cells[0]?.calls ?? []
      expect(calls.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 'ok'))
      expect(tree.totals.toolCalls).toBe(30)
    },
  )

  it('local effects follow an ordinary call in its activity, and an ordinary call follows them', async () => {
    const mark = tool('mark', ({ n }) => n, local)
    const count = tool('count', ({ n }) => n)
    const env = await start({ tools: [mark, count] })
    const source = 'n = await count(n=1)\nfor _ in range(3): n += await mark(n=n)\nprint(n, await count(n=n))'
    expect((await env.runProgram(source)).outcome).toMatchObject({ status: 'ok', output: '8 8\n' })
    expect(await activitiesOf(env)).toEqual(['session.step', 'count', 'count'])
  })

  it('the keys of calls are those of ordinary calls, and every call is in the audit log and the live stream', async () => {
    const keys: string[] = []
    const events: AuditEvent[] = []
    const mark = tool(
      'mark',
      (_input, { idempotencyKey }) => {
        keys.push(idempotencyKey)
        return null
      },
      local,
    )
    const sink = { write: async (event: AuditEvent) => void events.push(event) }
    const env = await start({ tools: [mark], audit: { sink } })
    await env.runProgram('await mark(n=1)\nawait mark(n=2)')
    const tree = await env.ptc.handle(env.lastRun.workflowId).tree()
    const digests = tree.turns[0]?.cells[0]?.calls.map(({ position }) => position.index)
    expect([digests, new Set(keys).size]).toEqual([[1, 2], 2])
    const ofCalls = events.filter(({ type }) => type.startsWith('call.'))
    expect(ofCalls.map(({ type }) => type)).toEqual([
      'call.started',
      'call.completed',
      'call.started',
      'call.completed',
    ])
  })

  it('a failed `idempotent` call is made again by an activity, and a failed `once` call is not', async () => {
    let attempts = 0
    const flaky = tool(
      'flaky',
      () => {
        attempts += 1
        if (attempts === 1) throw new Error('again')
        return attempts
      },
      local,
    )
    const breaks = tool('breaks', () => Promise.reject(new Error('broken')), once)
    const refuses = tool('refuses', () => Promise.reject(new ToolError('never')), once)
    const env = await start({ tools: [flaky, breaks, refuses] })
    const source = `
print(await flaky())
for call in (breaks, refuses):
    try:
        await call()
    except ToolError as error:
        print(type(error).__name__, error)`
    const { outcome } = await env.runProgram(source)
    expect(outcome.output.split('\n')).toMatchObject([
      '2',
      expect.stringMatching(/^ToolOutcomeUnknown breaks may or may not have happened: .*broken/),
      'ToolError never',
      '',
    ])
    expect((await activitiesOf(env)).filter((type) => !type.startsWith('session'))).toEqual(['flaky'])
    const { turns } = await env.ptc.handle(env.lastRun.workflowId).tree()
    const calls = turns[0]?.cells[0]?.calls.map(({ tool: name, status }) => [name, status])
    expect(calls).toEqual([
      ['flaky', 'ok'],
      ['breaks', 'outcome_unknown'],
      ['refuses', 'tool_error'],
    ])
  })

  it('a large result is delivered by reference', async () => {
    let calls = 0
    const large = tool(
      'large',
      () => {
        calls += 1
        return 'x'.repeat(200_000)
      },
      once,
    )
    const env = await start({ tools: [large] })
    const { outcome } = await env.runProgram('print(len(await large()))')
    expect({ outcome, calls }).toMatchObject({ outcome: { status: 'ok', output: '200000\n' }, calls: 1 })
  })

  it('a call that takes longer than follow-up steps may is not made again', async () => {
    let calls = 0
    const slow = tool(
      'slow',
      ({ n }) => {
        calls += 1
        return delay(1_500, n)
      },
      local,
    )
    const env = await start({ tools: [slow] })
    const { outcome } = await env.runProgram('print(await slow(n=1) + await slow(n=2))')
    expect({ outcome, calls }).toMatchObject({ outcome: { output: '3\n' }, calls: 2 })
  })

  it('calls of a run count towards its limit before they begin', async () => {
    const made: unknown[] = []
    const mark = tool('mark', ({ n }) => made.push(n), local)
    const env = await start({ tools: [mark] })
    const source = `
for n in range(6):
    try:
        await mark(n=n)
    except ToolDenied as denied:
        print(n, denied)`
    const { outcome } = await env.runProgram(source, { limits: { callsPerRun: 4 } })
    expect(outcome.output).toBe('4 the run has used up its 4 tool calls\n5 the run has used up its 4 tool calls\n')
    expect(made).toEqual([0, 1, 2, 3])
  })

  it('cancelling the run stops the call', async () => {
    const called = new Deferred()
    const stopped = new Deferred()
    const hang = tool(
      'hang',
      async (_input, { signal }) => {
        called.resolve()
        await waitForAbort(signal)
        stopped.resolve()
        return null
      },
      once,
    )
    const env = await start({ tools: [hang], timeouts: { heartbeat: '5s' } })
    const handle = await env.startProgram('await hang()')
    await called.promise
    await handle.cancel()
    await expect(handle.result()).rejects.toThrow()
    await stopped.promise
    await env.expectCleanEnd(handle)
  })

  it('an interruption waits for the call, whose result is recorded', async () => {
    const called = new Deferred()
    const released = new Deferred<number>()
    let calls = 0
    const hold = tool(
      'hold',
      () => {
        calls += 1
        called.resolve()
        return released.promise
      },
      once,
    )
    const session = await TestSession.start({ tools: [hold] })
    const controller = new AbortController()
    const execution = session.execute('x = 1\nx = await hold()\nx = 3', { signal: controller.signal })
    await called.promise
    controller.abort()
    await expect.poll(() => session.signalCount()).toBe(1)
    released.resolve(2)
    expect(await execution).toMatchObject({ outcome: { status: 'stopped', sessionKept: true }, toolCalls: 1 })
    expect(await session.outputOf('print(x)')).toBe('1\n')
    expect(calls).toBe(1)
    await session.close()
  })
})

describe.skipIf(losesConnections)('a worker that ends', () => {
  it.each([
    ['once', 'ToolOutcomeUnknown', 1],
    ['idempotent', '2', 2],
  ] as const)('during a local call with effect %s leaves: %s', async (effect, printed, calls) => {
    const called = new Deferred()
    const stopped = new Deferred()
    const keys: string[] = []
    const hold = tool(
      'hold',
      async (_input, { signal, idempotencyKey }) => {
        keys.push(idempotencyKey)
        called.resolve()
        if (keys.length > 1) return 2
        await waitForAbort(signal)
        stopped.resolve()
        return 1
      },
      { execution: 'local', effect },
    )
    const env = await start({ tools: [hold] })
    const source = 'try:\n    print(await hold())\nexcept ToolOutcomeUnknown as e:\n    print(type(e).__name__)'
    const handle = await env.startProgram(source)
    await called.promise
    const ending = env.workers.stop()
    await stopped.promise
    await ending
    await env.workers.start({})
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: `${printed}\n` } })
    expect([keys.length, new Set(keys).size]).toEqual([calls, 1])
    await env.expectCleanEnd(handle)
  })
})

describe.skipIf(losesConnections)('heartbeats', () => {
  it('a call that takes longer than the heartbeat timeout comes between two others, each made once', async () => {
    const made: unknown[] = []
    const mark = tool('mark', ({ n }) => made.push(n), once)
    const slow = tool('slow', ({ n }) => delay(5_000, made.push(n)), once)
    const env = await start({ tools: [mark, slow], timeouts: { heartbeat: '3s' } })
    const { outcome } = await env.runProgram('print(await mark(n=1), await slow(n=2), await mark(n=3))')
    expect(outcome).toMatchObject({ status: 'ok', output: '1 2 3\n' })
    expect(made).toEqual([1, 2, 3])
  })

  it('a call that blocks the event loop comes between two others, each made once', async () => {
    const made: unknown[] = []
    const mark = tool('mark', ({ n }) => made.push(n), once)
    const block = tool(
      'block',
      ({ n }) => {
        for (const end = Date.now() + 4_000; Date.now() < end;);
        return made.push(n)
      },
      once,
    )
    const env = await start({ tools: [mark, block], timeouts: { heartbeat: '3s' } })
    const { outcome } = await env.runProgram('print(await mark(n=1), await block(n=2), await mark(n=3))')
    expect(outcome).toMatchObject({ status: 'ok', output: '1 2 3\n' })
    expect(made).toEqual([1, 2, 3])
  })

  it('the stored result of an encrypted run is encrypted', async () => {
    const called = new Deferred()
    const released = new Deferred()
    const mark = tool('mark', () => 'marker', once)
    const hold = tool(
      'hold',
      async () => {
        called.resolve()
        await released.promise
        return null
      },
      once,
    )
    const key = randomKey()
    const encryption = { currentKeyId: 'k1', key: () => key }
    const env = await start({ tools: [mark, hold], encryption, timeouts: { heartbeat: '3s' } })
    const handle = await env.startProgram('await mark()\nawait hold()')
    await called.promise
    const details = async () => {
      const { raw } = await handle.describe()
      return raw.pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0]
    }
    const encodingOf = async () => Buffer.from((await details())?.metadata?.['encoding'] ?? []).toString()
    const first = await encodingOf()
    // The heartbeat of the SDK, which comes later, has the result, too.
    const { data } = (await details()) ?? {}
    await expect
      .poll(async () => Buffer.from((await details())?.data ?? []).equals(data ?? Buffer.of()), { timeout: 5_000 })
      .toBe(false)
    expect([first, await encodingOf()]).toEqual(['binary/encrypted', 'binary/encrypted'])
    expect((await details())?.data?.length).toBeGreaterThan((data?.length ?? 0) - 50)
    released.resolve()
    await handle.result()
  })
})

it('after a reset, a call that was recorded before its point is not made again', async () => {
  const made: unknown[] = []
  const mark = tool('mark', ({ n }) => made.push(n), local)
  const count = tool('count', ({ n }) => n)
  const held = new Deferred<number>()
  const hold = tool('hold', () => held.promise)
  const env = await start({ tools: [mark, count, hold] })
  const handle = await env.startProgram('await mark(n=1)\nawait count(n=1)\nawait mark(n=2)\nprint(await hold())')
  await expect.poll(async () => (await env.activities(handle)).some(({ type }) => type === 'hold')).toBe(true)
  await resetToCall(env, handle, 'hold')
  held.resolve(7)
  const result = (await env.client.workflow.getHandle(handle.workflowId).result()) as { outcome: { output: string } }
  expect(result.outcome.output).toBe('7\n')
  expect(made).toEqual([1, 2])
})
