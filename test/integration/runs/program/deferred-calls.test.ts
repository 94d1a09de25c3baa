import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { JsonValue } from '../../../../src/common/json/json.js'
import { decodeCompletionToken, encodeCompletionToken } from '../../../../src/common/calls/completion-token.js'
import { DeferredToolCalls } from '../../../support/deferred-tool.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { pollOptions } from '../../../support/poll-options.js'
import { resetToCall } from '../../../support/environment/reset.js'
import { answerResult, call, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

const approved = { approved: true }
const calls = new DeferredToolCalls()
const release = new Deferred()
const checking = new Deferred()
const checked = new Deferred()
let env: TestEnvironment
let end: (() => Promise<void>) | undefined

beforeAll(async () => {
  env = await TestEnvironment.start({
    tools: [
      calls.tool('approve'),
      calls.tool('approve_slowly', { onCall: () => release.promise }),
      calls.tool('approve_checked', {
        onCheck: () => {
          checking.resolve()
          return checked.promise
        },
      }),
      calls.tool('approve_soon', { expires: '1s' }),
      calls.tool('pay_soon', { expires: '1s', effect: 'once' }),
      tool('count', () => null),
    ],
    script: [turn(call('approve', { id: 61 }), call('approve', { id: 62 })), answerResult],
    limits: { historyEvents: 100 },
    onCleanup: (cleanup) => (end = cleanup),
  })
})
afterAll(() => end?.())

async function complete(id: number, value: JsonValue): Promise<void> {
  await env.ptc.completeCall(await calls.token(id), value)
}

describe('a call of a deferred tool', () => {
  it('a deferred call waits for a result that fits the output schema, and returns it to the code', async () => {
    const handle = await env.startProgram('print(await approve(id=11))')
    await expect(complete(11, { approved: 'yes' })).rejects.toMatchObject({
      code: 'TOOL_OUTPUT_INVALID',
      message: expect.stringContaining('the result of approve does not fit its output schema'),
    })
    await complete(11, approved)
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: "{'approved': True}\n" } })
    await env.expectCleanEnd(handle)
  })

  it('a deferred call that is failed raises an exception in the code', async () => {
    const source = 'try: await approve(id=21)\nexcept ToolError as error: print(type(error).__name__, error)'
    const handle = await env.startProgram(source)
    await env.ptc.failCall(await calls.token(21), 'the budget is spent')
    expect(await handle.result()).toMatchObject({ outcome: { output: 'ToolError the budget is spent\n' } })
    await env.expectCleanEnd(handle)
  })

  it('a deferred call keeps a result that arrives before the tool has returned', async () => {
    const handle = await env.startProgram('print(await approve_slowly(id=31))')
    await complete(31, approved)
    release.resolve()
    expect(await handle.result()).toMatchObject({ outcome: { output: "{'approved': True}\n" } })
    await env.expectCleanEnd(handle)
  })

  it('a deferred call accepts the same result twice, and no other, until its run has ended', async () => {
    const handle = await env.startProgram('print(await approve(id=41), await approve(id=42))')
    await complete(41, approved)
    await complete(41, approved)
    await expect(complete(41, { approved: false })).rejects.toMatchObject({ code: 'CALL_COMPLETED' })
    await complete(42, approved)
    await handle.result()
    await expect(complete(42, approved)).rejects.toMatchObject({ code: 'CALL_NOT_FOUND' })
  })

  it('a deferred call that expires raises an exception that says whether its effect is known', async () => {
    const source = `
for tool, id in (approve_soon, 51), (pay_soon, 52):
    try: await tool(id=id)
    except ToolError as error: print(type(error).__name__, error)
await approve(id=53)
`
    const handle = await env.startProgram(source)
    await calls.token(53)
    await expect(complete(51, approved)).rejects.toMatchObject({ code: 'CALL_EXPIRED' })
    await complete(53, approved)
    expect(await handle.result()).toMatchObject({
      outcome: {
        output: [
          'ToolTimedOut approve_soon has expired: no result arrived within 1.0s\n',
          'ToolOutcomeUnknown pay_soon may or may not have happened: no result arrived within 1.0s.',
          ' It is not repeated by itself.\n',
        ].join(''),
      },
    })
    await env.expectCleanEnd(handle)
  })

  it('a deferred call of a model returns its result to the model', async () => {
    const handle = await env.startAgent()
    await complete(62, { approved: false })
    await complete(61, approved)
    await handle.result()
    expect(env.lastUserContent()).toMatchObject([{ content: '{"approved":true}' }, { content: '{"approved":false}' }])
    await env.expectCleanEnd(handle)
  })

  it('a deferred call is refused when the maximum number of calls of the run wait', async () => {
    const source = `
import asyncio
first = asyncio.ensure_future(approve(id=71))
await asyncio.sleep(0)
try: await approve(id=72)
except ToolDenied as error: print(error)
`
    const own = await TestEnvironment.start({ tools: [calls.tool('approve')], limits: { deferredCalls: 1 } })
    const { outcome } = await own.runProgram(source)
    const output = expect.stringContaining('a run may have 1 deferred call at once\n')
    expect(outcome).toMatchObject({ status: 'ok', output })
  })

  it('a deferred call is dropped when its code ends', async () => {
    const handle = await env.startProgram(
      'import asyncio\nfirst = asyncio.ensure_future(approve(id=81))\nawait approve(id=82)',
    )
    const token = await calls.token(81)
    await complete(82, approved)
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok' } })
    await expect(env.ptc.completeCall(token, approved)).rejects.toMatchObject({ code: 'CALL_NOT_FOUND' })
    await env.expectCleanEnd(handle)
  })

  it('a deferred call is not found when its run is terminated while the result is checked', async () => {
    const handle = await env.startProgram('await approve_checked(id=85)')
    const refused = expect(complete(85, approved)).rejects.toMatchObject({ code: 'CALL_NOT_FOUND' })
    await checking.promise
    await handle.terminate('by the test')
    await refused
    checked.resolve()
  })

  it('a deferred call keeps its token when its run is reset', async () => {
    const handle = await env.startProgram('print(await approve(id=86))')
    const token = await calls.token(86)
    await complete(86, approved)
    await handle.result()
    await resetToCall(env, handle, 'approve')
    const again = env.client.workflow.getHandle(handle.workflowId)
    // Temporal sends the update to the new execution again. It is refused when it comes before the call.
    await vi.waitUntil(async () => {
      await complete(86, approved).catch(() => undefined)
      return (await again.describe()).status.name !== 'RUNNING'
    }, pollOptions)
    expect(await again.result()).toMatchObject({ outcome: { output: "{'approved': True}\n" } })
    expect(await calls.token(86)).toBe(token)
    await env.expectCleanEnd(again)
  })

  it('a deferred call of a named session is dropped with its interrupted code, and the next one waits', async () => {
    const controller = new AbortController()
    const options = { signal: controller.signal }
    const interrupted = env.ptc.sessions.execute('deferred', 'x = 1\nawait approve(id=91)', options)
    await calls.token(91)
    controller.abort()
    expect(await interrupted).toMatchObject({ outcome: { status: 'stopped' } })
    await expect(complete(91, approved)).rejects.toMatchObject({ code: 'CALL_NOT_FOUND' })
    const executed = env.ptc.sessions.execute('deferred', 'print((await approve(id=92))["approved"])')
    await complete(92, approved)
    expect(await executed).toMatchObject({ outcome: { status: 'ok', output: 'True\n' } })
    await env.ptc.sessions.close('deferred')
  })
})

describe('a completion token', () => {
  it('an invalid completion token, or one of another namespace, is refused', async () => {
    await env.startProgram('await approve(id=101)')
    const invalid = { code: 'COMPLETION_TOKEN_INVALID' }
    await expect(env.ptc.completeCall('abc', approved)).rejects.toMatchObject(invalid)
    const token = decodeCompletionToken(await calls.token(101))
    const elsewhere = encodeCompletionToken({ ...token, namespace: 'elsewhere' })
    await expect(env.ptc.completeCall(elsewhere, approved)).rejects.toMatchObject(invalid)
  })

  it('a completion token does not give access to another call, run or workflow', async () => {
    await env.startProgram('import asyncio\nawait asyncio.gather(approve(id=111), approve(id=112))')
    const own = decodeCompletionToken(await calls.token(111))
    const { idempotencyKey } = decodeCompletionToken(await calls.token(112))
    const forged = [
      { ...own, idempotencyKey },
      { ...own, workflowId: 'no-such-run' },
      { ...own, firstExecutionRunId: '00000000-0000-4000-8000-000000000000' },
    ]
    for (const each of forged) {
      const completed = env.ptc.completeCall(encodeCompletionToken(each), approved)
      await expect(completed).rejects.toMatchObject({ code: 'CALL_NOT_FOUND' })
    }
  })
})
