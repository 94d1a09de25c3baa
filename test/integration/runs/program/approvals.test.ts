import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type ApprovalRule, defineTool, type Effect } from '../../../../src/index.js'
import type { ApprovalRequest } from '../../../../src/config/options/approvals.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { resetToCall } from '../../../support/environment/reset.js'
import { fastPollOptions } from '../../../support/poll-options.js'
import { answerResult, call, turn } from '../../../support/script.js'
import { DeferredToolCalls } from '../../../support/deferred-tool.js'
import { Deferred, tool } from '../../../support/tools.js'

const requests: ApprovalRequest[] = []
const paid: unknown[] = []
let failuresOfHook = 0

/** A payment with the approval rule of this tool. */
function payment(name: string, approval: 'always' | ApprovalRule<{ euros: number }>, effect: Effect = 'once') {
  return defineTool({
    name,
    description: 'Pays.',
    input: z.object({ id: z.int(), euros: z.number().max(10_000) }),
    output: z.string(),
    effect,
    approval,
    summary: ({ id }) => `${name} ${id}`,
    run: ({ id, euros }) => {
      paid.push([id, euros])
      return `paid ${euros}`
    },
  })
}

const deferred = new DeferredToolCalls()
const held = new Deferred()
const released = new Deferred()
const hold = tool('hold', () => {
  held.resolve()
  return released.promise.then(() => null)
})
let env: TestEnvironment
let end: (() => Promise<void>) | undefined

beforeAll(async () => {
  env = await TestEnvironment.start({
    tools: [
      payment('pay', 'always'),
      payment('pay_much', ({ euros }, { context, caller }) => {
        if (euros === 13) throw new Error('no rule for 13')
        return euros > 100 && context['user'] !== 'boss' && caller === 'code_execution'
      }),
      deferred.tool('approve'),
      hold,
    ],
    approvals: {
      onRequest: (request) => {
        if ((failuresOfHook -= 1) >= 0) throw new Error('no mail today')
        requests.push(request)
      },
    },
    script: [turn(call('pay', { id: 71, euros: 1 }), call('pay', { id: 72, euros: 2 })), answerResult],
    onCleanup: (cleanup) => (end = cleanup),
  })
})
afterAll(() => end?.())

/** The request for the call with this id, as soon as it was made. */
function request(id: number): Promise<ApprovalRequest> {
  return vi.waitUntil(() => requests.find((each) => each.arguments['id'] === id), fastPollOptions)
}

const approve = async (id: number, options?: Parameters<typeof env.ptc.approveCall>[1]) =>
  env.ptc.approveCall((await request(id)).token, options)

const payments = (id: number) => paid.filter((each) => (each as number[])[0] === id)

describe('a call that needs approval', () => {
  it('a call that needs approval starts after its approval, and not before', async () => {
    const handle = await env.startProgram('print(await pay(id=11, euros=5))', { context: { user: 'ada' } })
    expect(await request(11)).toMatchObject({
      tool: 'pay',
      summary: 'pay 11',
      arguments: { id: 11, euros: 5 },
      caller: 'code_execution',
      run: { workflowId: handle.workflowId },
      context: { user: 'ada' },
    })
    const tree = () => env.ptc.handle(handle.workflowId).tree()
    const waiting = await vi.waitUntil(
      async () => (await tree()).turns[0]?.cells[0]?.calls.find(({ approval }) => approval),
      fastPollOptions,
    )
    expect(waiting).toMatchObject({ status: 'waiting', approval: { completionToken: (await request(11)).token } })
    expect(payments(11)).toEqual([])
    await approve(11)
    expect(await handle.result()).toMatchObject({ outcome: { output: 'paid 5\n' }, toolCalls: 1 })
    expect(payments(11)).toEqual([[11, 5]])
    await env.expectCleanEnd(handle)
  })

  it('a call is denied with a reason, which its code gets', async () => {
    const source = 'try: await pay(id=21, euros=5)\nexcept ToolDenied as error: print(error)'
    const handle = await env.startProgram(source)
    await env.ptc.denyCall((await request(21)).token, 'too late')
    expect(await handle.result()).toMatchObject({ outcome: { output: 'pay was not approved: too late\n' } })
    expect(payments(21)).toEqual([])
    await env.expectCleanEnd(handle)
  })

  it('a call runs with the arguments of the approval, which the tool must accept', async () => {
    const handle = await env.startProgram('print(await pay(id=31, euros=500))')
    await expect(approve(31, { arguments: { id: 31, euros: 20_000 } })).rejects.toMatchObject({
      code: 'TOOL_INPUT_INVALID',
      message: expect.stringContaining('euros'),
    })
    await approve(31, { arguments: { id: 31, euros: 50 } })
    expect(await handle.result()).toMatchObject({ outcome: { output: 'paid 50\n' } })
    expect(payments(31)).toEqual([[31, 50]])
    await env.expectCleanEnd(handle)
  })

  it('approval is requested once for each of ten parallel calls, which wait for their own approval', async () => {
    const source = `
import asyncio
print(await asyncio.gather(*(pay(id=n, euros=n) for n in range(400, 410)), return_exceptions=True))`
    const handle = await env.startProgram(source)
    for (let id = 409; id > 400; id -= 1) await approve(id)
    await env.ptc.denyCall((await request(400)).token, 'no')
    const { outcome } = (await handle.result()) as { outcome: { output: string } }
    expect(outcome.output).toMatch(/^\[ToolDenied\('pay was not approved: no'\), 'paid 401', .*'paid 409'\]\n$/)
    expect(
      requests.filter(({ arguments: args }) => Number(args['id']) >= 400 && Number(args['id']) < 410),
    ).toHaveLength(10)
    await env.expectCleanEnd(handle)
  })

  it('an approval is remembered for the run and the arguments that a person saw', async () => {
    const source = 'print(await pay(id=51, euros=1), await pay(id=51, euros=1), await pay(id=52, euros=999))'
    const handle = await env.startProgram(source)
    await approve(51, { remember: true })
    await approve(52)
    expect(await handle.result()).toMatchObject({ outcome: { output: 'paid 1 paid 1 paid 999\n' } })
    expect(requests.filter(({ arguments: { id } }) => id === 51)).toHaveLength(1)
    const next = await env.startProgram('print(await pay(id=53, euros=3))')
    await approve(53)
    expect(await next.result()).toMatchObject({ outcome: { output: 'paid 3\n' } })
  })

  it('a function of arguments and context decides on the approval, and requires it when it throws', async () => {
    const small = await env.startProgram('print(await pay_much(id=61, euros=100))')
    expect(await small.result()).toMatchObject({ outcome: { output: 'paid 100\n' } })
    const source = 'print(await pay_much(id=62, euros=101))'
    const boss = await env.startProgram(source, { context: { user: 'boss' } })
    expect(await boss.result()).toMatchObject({ outcome: { output: 'paid 101\n' } })
    expect(requests.filter(({ tool }) => tool === 'pay_much')).toEqual([])
    for (const euros of [101, 13]) {
      const handle = await env.startProgram(`print(await pay_much(id=${600 + euros}, euros=${euros}))`)
      await approve(600 + euros)
      expect(await handle.result()).toMatchObject({ outcome: { output: `paid ${euros}\n` } })
      await env.expectCleanEnd(handle)
    }
  })

  it('a direct call waits for approval, too, and the model reads why it was denied', async () => {
    const handle = await env.startAgent()
    await env.ptc.denyCall((await request(72)).token, 'not today')
    await approve(71)
    await handle.result()
    expect(env.lastUserContent()).toMatchObject([
      { content: 'paid 1' },
      { content: expect.stringContaining('pay was not approved: not today'), is_error: true },
    ])
    await env.expectCleanEnd(handle)
  })

  it('an approval is requested again when people could not be notified', async () => {
    failuresOfHook = 2
    const handle = await env.startProgram('print(await pay(id=81, euros=8))')
    await approve(81)
    expect(await handle.result()).toMatchObject({ outcome: { output: 'paid 8\n' } })
  })

  it('the token of a call that needs approval approves only this call, once, and completes none', async () => {
    const handle = await env.startProgram('print(await pay(id=91, euros=9), await approve(id=92))')
    const { token } = await request(91)
    await expect(env.ptc.completeCall(token, { approved: false })).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
    await approve(91)
    await approve(91)
    await expect(env.ptc.denyCall(token, 'too late')).rejects.toMatchObject({ code: 'CALL_COMPLETED' })
    const other = await deferred.token(92)
    await expect(env.ptc.approveCall(other)).rejects.toMatchObject({ code: 'COMPLETION_TOKEN_INVALID' })
    await env.ptc.completeCall(other, { approved: true })
    expect(await handle.result()).toMatchObject({ outcome: { output: "paid 9 {'approved': True}\n" } })
    expect(payments(91)).toEqual([[91, 9]])
  })

  it('a call over the limit of waiting calls is refused, and does not start later without an approval', async () => {
    const source = `
import asyncio
first = asyncio.ensure_future(pay(id=96, euros=1))
await asyncio.sleep(1)
print(await asyncio.gather(first, hold(), pay(id=97, euros=2), return_exceptions=True))`
    const own = await TestEnvironment.start({
      tools: [payment('pay', 'always'), hold],
      limits: { callsInFlight: 1, deferredCalls: 1 },
      approvals: { onRequest: (each) => void requests.push(each) },
    })
    const handle = await own.startProgram(source)
    await held.promise
    await approve(96)
    released.resolve()
    const output = expect.stringMatching(
      /^\['paid 1', None, ToolDenied\('a run may have 1 deferred call at once'\)\]\n$/,
    )
    expect(await handle.result()).toMatchObject({ outcome: { output } })
    expect(payments(97)).toEqual([])
    await own.expectCleanEnd(handle)
  })

  it('an approval is not requested again after a reset', async () => {
    const handle = await env.startProgram('print(await pay(id=95, euros=9))')
    await approve(95)
    await handle.result()
    await resetToCall(env, handle, 'pay')
    const again = env.client.workflow.getHandle(handle.workflowId)
    await again.result()
    expect(requests.filter(({ arguments: { id } }) => id === 95)).toHaveLength(1)
    await env.expectCleanEnd(again)
  })
})

it('a call without a decision is denied when its time is over', async () => {
  const own = await TestEnvironment.start({ tools: [payment('pay', 'always')], approvals: { expires: '1s' } })
  const handle = await own.startProgram('try: await pay(id=1, euros=1)\nexcept ToolDenied as error: print(error)')
  expect(await handle.result()).toMatchObject({ outcome: { output: 'nobody approved pay within 1.0s\n' } })
  await own.expectCleanEnd(handle)
})
