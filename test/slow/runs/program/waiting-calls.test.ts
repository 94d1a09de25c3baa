import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../../src/index.js'
import type { JsonValue } from '../../../../src/common/json/json.js'
import type { ApprovalRequest } from '../../../../src/config/options/approvals.js'
import { DeferredToolCalls } from '../../../support/deferred-tool.js'
import { scheduledActivitiesOfType } from '../../../support/environment/histories.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { fastPollOptions } from '../../../support/poll-options.js'
import { tool } from '../../../support/tools.js'

const approved = { approved: true }
const requests: ApprovalRequest[] = []
const paid: number[] = []
const deferred = new DeferredToolCalls()

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ id: z.int(), euros: z.number() }),
  output: z.string(),
  effect: 'once',
  approval: 'always',
  run: ({ id, euros }) => {
    paid.push(id)
    return `paid ${euros}`
  },
})
const count = tool('count', () => null)
let env: TestEnvironment
let end: (() => Promise<void>) | undefined

beforeAll(async () => {
  env = await TestEnvironment.start({
    tools: [pay, count, deferred.tool('approve'), deferred.tool('approve_soon', { expires: '1s' })],
    approvals: { onRequest: (request) => void requests.push(request) },
    limits: { historyEvents: 100 },
    timeouts: { park: '1s' },
    onCleanup: (cleanup) => (end = cleanup),
  })
})
afterAll(() => end?.())

/** The request for the call with this id, as soon as it was made. */
function request(id: number): Promise<ApprovalRequest> {
  return vi.waitUntil(() => requests.find((each) => each.arguments['id'] === id), fastPollOptions)
}

async function complete(id: number, value: JsonValue): Promise<void> {
  await env.ptc.completeCall(await deferred.token(id), value)
}

describe('a call that waits while its run continues as new', () => {
  it('calls that wait for approval keep waiting while their run continues as new, and use no worker slot', async () => {
    const source = `
import asyncio
first = asyncio.ensure_future(pay(id=901, euros=7))
for n in range(20): await count()
print(await first, await pay(id=902, euros=8))`
    const handle = await env.startProgram(source)
    await request(901)
    await expect.poll(async () => (await env.executionHistories(handle)).length).toBeGreaterThan(1)
    await expect.poll(async () => (await handle.describe()).raw.pendingActivities ?? []).toEqual([])
    await env.ptc.approveCall((await request(901)).token)
    await env.ptc.approveCall((await request(902)).token)
    expect(await handle.result()).toMatchObject({ outcome: { output: 'paid 7 paid 8\n' } })
    const histories = await env.executionHistories(handle)
    expect(histories.flatMap((history) => scheduledActivitiesOfType(history, 'pay'))).toHaveLength(2)
    expect(paid.filter((id) => id === 901)).toHaveLength(1)
    await env.expectCleanEnd(handle)
  })

  it('a waiting call keeps waiting over continue-as-new, even if its tool was approved meanwhile', async () => {
    const source = `
import asyncio
waiting = asyncio.ensure_future(pay(id=911, euros=1))
await pay(id=912, euros=2)
for n in range(20): await count()
await approve(id=913)
print(await waiting)`
    const handle = await env.startProgram(source)
    const { token } = await request(911)
    await env.ptc.approveCall((await request(912)).token, { remember: true })
    const done = await deferred.token(913)
    const histories = await env.executionHistories(handle)
    expect(histories.length).toBeGreaterThan(1)
    expect(histories.flatMap((history) => scheduledActivitiesOfType(history, 'pay'))).toHaveLength(1)
    await env.ptc.approveCall(token)
    await env.ptc.completeCall(done, { approved: true })
    expect(await handle.result()).toMatchObject({ outcome: { output: 'paid 1\n' } })
    expect(paid.filter((id) => id === 911)).toHaveLength(1)
    await env.expectCleanEnd(handle)
  })

  const continueAsNew = 'for n in range(40): await count()'

  it('a deferred call keeps its result over continue-as-new: the same one is accepted again, and no other', async () => {
    const handle = await env.startProgram(`
import asyncio
calls = [asyncio.ensure_future(approve(id=n)) for n in (121, 122)]
await approve(id=123)
${continueAsNew}
await approve(id=124)
print([(await call)["approved"] for call in calls])
await approve(id=125)
`)
    const completeAgain = async (id: number): Promise<void> => {
      await complete(id, approved)
      await expect(complete(id, { approved: false })).rejects.toMatchObject({ code: 'CALL_COMPLETED' })
    }
    await complete(121, approved)
    await complete(123, approved)
    await deferred.token(124)
    expect((await env.executionHistories(handle)).length).toBeGreaterThan(1)
    await completeAgain(121)
    await complete(122, approved)
    await completeAgain(122)
    await complete(124, approved)
    await deferred.token(125) // the code has both results
    for (const id of [121, 122, 123]) await completeAgain(id)
    await complete(125, approved)
    expect(await handle.result()).toMatchObject({ outcome: { output: '[True, True]\n' } })
    await env.expectCleanEnd(handle)
  })

  it('a deferred call stays expired over continue-as-new', async () => {
    const handle = await env.startProgram(`
try: await approve_soon(id=131)
except ToolError as error: print(type(error).__name__, error)
${continueAsNew}
await approve(id=132)
`)
    await deferred.token(132)
    expect((await env.executionHistories(handle)).length).toBeGreaterThan(1)
    await expect(complete(131, approved)).rejects.toMatchObject({ code: 'CALL_EXPIRED' })
    await complete(132, approved)
    expect(await handle.result()).toMatchObject({
      outcome: { output: 'ToolTimedOut approve_soon has expired: no result arrived within 1.0s\n' },
    })
    await env.expectCleanEnd(handle)
  })
})
