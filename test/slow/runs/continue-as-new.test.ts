import { describe, expect, it } from 'vitest'
import { answerResult, call, code, turn } from '../../support/script.js'
import { requestMessages, TestEnvironment } from '../../support/environment/test-environment.js'
import { Deferred, tool } from '../../support/tools.js'
import { waitForActivity } from '../../support/environment/waits.js'

/** Idempotency keys of calls in the order they ran. */
function countingTool(name = 'count') {
  const keys: string[] = []
  const counter = tool(name, ({ n }, { idempotencyKey }) => {
    keys.push(idempotencyKey)
    return n
  })
  return { keys, made: counter }
}

const shortHistory = { historyEvents: 100 }

describe('continue-as-new of a run with a long history', () => {
  it('F31: a run continues as new in the middle of a cell, with every variable, result and printed line', async () => {
    const { keys, made } = countingTool()
    const env = await TestEnvironment.start({ tools: [made], limits: shortHistory })
    const { outcome, toolCalls, cells } = await env.runProgram(`
total = 0
for n in range(120):
    total += await count(n=n)
    if n % 40 == 0: print("at", n)
print(total)
`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'at 0\nat 40\nat 80\n7140\n' })
    expect({ toolCalls, cells }).toEqual({ toolCalls: 120, cells: 1 })
    expect(new Set(keys).size).toBe(120)
    expect(keys).toHaveLength(120)
    expect((await env.executionHistories()).length).toBeGreaterThan(4)
  })

  it('a run with queued calls continues as new several times', async () => {
    const { keys, made } = countingTool()
    const env = await TestEnvironment.start({ tools: [made], limits: { ...shortHistory, callsInFlight: 10 } })
    const { outcome } = await env.runProgram(`
import asyncio
print(sum(await asyncio.gather(*(count(n=n) for n in range(200)))))
`)
    expect(outcome).toMatchObject({ status: 'ok', output: '19900\n' })
    expect(new Set(keys).size).toBe(200)
    expect(keys).toHaveLength(200)
    expect((await env.executionHistories()).length).toBeGreaterThan(1)
  })

  it('F31: a run continues as new with 4 MB of arguments of queued calls, and little in its history', async () => {
    const measure = tool('measure', ({ value }) => (value as string).length)
    const env = await TestEnvironment.start({ tools: [measure], limits: { ...shortHistory, callsInFlight: 4 } })
    const { outcome } = await env.runProgram(`
import asyncio
print(sum(await asyncio.gather(*(measure(value=str(n % 10) * 50_000) for n in range(80)))))
`)
    expect(outcome).toMatchObject({ status: 'ok', output: '4000000\n' })
    const chain = await env.executionHistories()
    expect(chain.length).toBeGreaterThan(1)
    for (const { events } of chain) {
      const input = events[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
      expect(input.reduce((bytes, { data }) => bytes + (data?.length ?? 0), 0)).toBeLessThan(256 * 1024)
    }
  })

  it('a run continues as new with 2,000 calls of one gather', async () => {
    const { keys, made } = countingTool()
    const env = await TestEnvironment.start({ tools: [made], limits: { callsPerCell: 2_000 } })
    const { outcome } = await env.runProgram(`
import asyncio
print(sum(await asyncio.gather(*(count(n=n) for n in range(2_000)))))
`)
    expect(outcome).toMatchObject({ status: 'ok', output: '1999000\n' })
    expect(new Set(keys).size).toBe(2_000)
    expect(keys).toHaveLength(2_000)
    expect((await env.executionHistories()).length).toBeGreaterThan(1)
  })

  it('a run that continues as new waits for a running call: the call is neither lost nor repeated', async () => {
    const { keys, made } = countingTool()
    const release = new Deferred<string>()
    let slow = 0
    const waits = (): Promise<string> => {
      slow += 1
      return release.promise
    }
    // A long timeout: a call that times out would be retried.
    const wait = tool('wait', waits, { timeout: '10m' })
    const last = tool('last', () => release.resolve('waited'))
    const env = await TestEnvironment.start({ tools: [made, wait, last], limits: shortHistory })
    const { outcome } = await env.runProgram(`
import asyncio
slow = asyncio.ensure_future(wait())
for n in range(30): await count(n=n)
await last()
print(await slow)
`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'waited\n' })
    expect(slow).toBe(1)
    expect(keys).toHaveLength(30)
  })

  it('a run that continued as new is rebuilt from steps of earlier histories when its sandbox is lost', async () => {
    const { keys, made } = countingTool()
    const arrived = new Deferred()
    const release = new Deferred<string>()
    const wait = tool('wait', () => {
      arrived.resolve()
      return release.promise
    })
    const env = await TestEnvironment.start({ tools: [made, wait], limits: shortHistory })
    const handle = await env.startProgram(`
seen = [await count(n=n) for n in range(40)]
print(await wait(), len(seen))
seen.append(await count(n=40))
print(sum(seen))
`)
    await arrived.promise
    await env.killContainers(handle)
    release.resolve('go')
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'go 40\n820\n' } })
    expect(keys).toHaveLength(41)
    await env.expectCleanEnd(handle)
  })

  it('an agent continues as new between its turns, and its sandbox is still parked when no code runs', async () => {
    const release = new Deferred<string>()
    const wait = tool('wait', () => release.promise, { allowedCallers: ['direct'], timeout: '1h' })
    const note = tool('note', () => 'noted', { allowedCallers: ['direct'] })
    const turns = 20
    const env = await TestEnvironment.start({
      tools: [wait, note],
      limits: { ...shortHistory, turns: turns + 3 },
      timeouts: { idle: '30s' }, // longer than the turns take; otherwise the sandbox would be parked before
      script: [
        turn(code('x = 1')),
        ...Array.from({ length: turns }, () => turn(call('note'))),
        turn(call('wait')),
        answerResult,
      ],
    })
    const handle = await env.startAgent()
    await waitForActivity(handle, 'wait')
    expect((await env.executionHistories(handle)).length).toBeGreaterThan(1)
    const state = async () => (await env.ptc.sessions.show(handle.workflowId)).state
    await expect.poll(state).toBe('parked')
    release.resolve('at last')
    expect(await handle.result()).toMatchObject({ status: 'answered', answer: 'at last' })
    await env.expectCleanEnd(handle)
  })

  it('F31: an agent continues as new between its turns, and its model still gets the whole conversation', async () => {
    const { keys, made } = countingTool()
    const turns = 25
    const env = await TestEnvironment.start({
      tools: [made],
      limits: { ...shortHistory, turns: turns + 2 },
      script: [
        turn(code('seen = []')),
        ...Array.from({ length: turns }, (_, n) => turn(code(`seen.append(await count(n=${n})); print(len(seen))`))),
        answerResult,
      ],
    })
    const result = await env.runAgent()
    expect(result).toMatchObject({
      status: 'answered',
      answer: '25',
      turns: turns + 2,
      cells: turns + 1,
      toolCalls: 25,
    })
    expect(keys).toHaveLength(turns)
    expect(env.api.requests).toHaveLength(turns + 2)
    const messages = requestMessages(env.api.requests.at(-1)?.body)
    expect(messages).toHaveLength(2 * (turns + 1) + 1)
    expect(messages[0]).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'go' }] })
    expect((await env.executionHistories()).length).toBeGreaterThan(3)
  })

  it('F31: an agent continues as new in the middle of a turn with direct calls and two cells', async () => {
    const { keys, made } = countingTool()
    const direct = countingTool('direct')
    const env = await TestEnvironment.start({
      tools: [made, direct.made],
      limits: shortHistory,
      script: [
        turn(
          call('direct', { n: 1 }),
          code('x = 0\nfor n in range(50): x += await count(n=n)\nprint(x)'),
          call('direct', { n: 2 }),
          code('for n in range(50): x += await count(n=n)\nprint(x)'),
        ),
        answerResult,
      ],
    })
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: '2450', cells: 2, toolCalls: 102 })
    expect(env.lastUserContent()).toMatchObject([
      { content: '1' },
      { content: '1225' },
      { content: '2' },
      { content: '2450' },
    ])
    expect(keys).toHaveLength(100)
    expect(direct.keys).toHaveLength(2)
    expect((await env.executionHistories()).length).toBeGreaterThan(4)
  })
})
