import { describe, expect, it } from 'vitest'
import { ActivityFailure, ApplicationFailure } from '@temporalio/common'
import type { Fault } from '../../../../src/testing/scripted-messages-api/script/faults.js'
import type { Duration } from '../../../../src/common/text/duration.js'
import { code, faulty, text, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { tool } from '../../../support/tools.js'

/** Starts an agent with one turn. Its first attempt gets this fault. */
function startWithFault(fault: Fault, idleTimeout: Duration = '30s') {
  return TestEnvironment.start({
    model: { idleTimeout },
    script: [faulty([{ ...fault, attempt: 1 }], turn(text('said in the end')))],
  })
}

/** The failure of the attempt before the last one, as recorded at the start of the last one. */
async function lastFailure(env: TestEnvironment) {
  const { events } = await env.history()
  const started = events.findLast(({ activityTaskStartedEventAttributes: event }) => event?.lastFailure)
  return started?.activityTaskStartedEventAttributes?.lastFailure?.applicationFailureInfo
}

describe('retried model requests', () => {
  it.each<[string, Fault, string]>([
    ['F23: 408', { type: 'status', status: 408 }, 'MODEL_TIMEOUT'],
    ['F23: 529 overloaded', { type: 'status', status: 529 }, 'MODEL_OVERLOADED'],
    ['F23: 500', { type: 'status', status: 500 }, 'MODEL_SERVER'],
    [
      'F26: a stream cut in the middle of its text',
      { type: 'cut', at: { insideBlock: 0 }, mode: 'end' },
      'MODEL_STREAM',
    ],
    ['F26: a stream with an error event', { type: 'error_event', at: { insideBlock: 0 } }, 'MODEL_OVERLOADED'],
    ['F26: a stream with broken JSON in it', { type: 'garbage', at: { insideBlock: 0 } }, 'MODEL_REPLY_INVALID'],
    ['F26: a stream without its end', { type: 'cut', at: { before: 'message_stop' }, mode: 'end' }, 'MODEL_STREAM'],
    ['F25: a connection that is reset', { type: 'close', mode: 'reset' }, 'MODEL_CONNECTION'],
  ])('%s: the model request is retried', async (_what, fault, failure) => {
    const env = await startWithFault(fault)
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'said in the end', turns: 1 })
    expect(env.api.requests).toHaveLength(2)
    expect((await lastFailure(env))?.type).toBe(failure)
  })

  it('F25: the model request is retried after a stalled stream', async () => {
    const env = await startWithFault({ type: 'stall', at: { insideBlock: 0 } }, '3s')
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'said in the end' })
    expect(env.api.requests).toHaveLength(2)
    expect((await lastFailure(env))?.type).toBe('MODEL_TIMEOUT')
  })

  it('F23: the model request is retried after a 429, not before retry-after', async () => {
    const env = await startWithFault({ type: 'status', status: 429, headers: { 'retry-after': '3' } })
    const begun = performance.now()
    expect(await env.runAgent()).toMatchObject({ answer: 'said in the end' })
    expect(performance.now() - begun).toBeGreaterThan(2_900)
    const failure = await lastFailure(env)
    expect(failure?.type).toBe('MODEL_RATE_LIMIT')
    expect(Number(failure?.nextRetryDelay?.seconds)).toBe(3)
  })
})

it('F26: a tool_use truncated in its code does not run, and the complete one runs once', async () => {
  let runs = 0
  const env = await TestEnvironment.start({
    tools: [tool('ping', () => (runs += 1))],
    script: [
      faulty(
        [{ type: 'cut', at: { insideBlock: 0 }, mode: 'close', attempt: 1 }],
        turn(code('print(await ping())\nprint("and on")')),
      ),
      turn(text('{{last_tool_result}}')),
    ],
  })
  expect(await env.runAgent()).toMatchObject({
    status: 'answered',
    answer: '1\nand on',
    turns: 2,
    cells: 1,
    toolCalls: 1,
  })
  expect(runs).toBe(1)
  expect(env.api.requests).toHaveLength(3)
})

it('F23: the reason and the duration of a wait are visible while the request waits', async () => {
  const env = await startWithFault({ type: 'status', status: 429, headers: { 'retry-after': '3000' } })
  const handle = await env.startAgent()
  const pending = async () => {
    const { raw } = await handle.describe()
    const [one] = raw.pendingActivities ?? []
    return { message: one?.lastFailure?.message, inSeconds: Number(one?.currentRetryInterval?.seconds ?? 0) }
  }
  await expect.poll(pending).toEqual({ message: expect.stringMatching(/429.*rate limit/s), inSeconds: 3_000 })
  const [turnSeen] = (await env.ptc.handle(handle.workflowId).tree()).turns
  expect(turnSeen?.model).toMatchObject({ status: 'waiting', attempts: 1, lastFailure: { code: 'MODEL_RATE_LIMIT' } })
})

it('F23: a model that is always overloaded fails the run with a typed error after ten attempts', async () => {
  const fault = { type: 'status', status: 529, headers: { 'retry-after': '0' }, attempt: 'every' } as const
  const env = await TestEnvironment.start({ script: [faulty([fault], turn(text('never said')))] })
  const handle = await env.startAgent()
  await expect(handle.result()).rejects.toMatchObject({ cause: { cause: { type: 'MODEL_OVERLOADED' } } })
  expect(env.api.requests).toHaveLength(10)
  await env.expectCleanEnd(handle)
})

describe('model errors that end a run', () => {
  it.each<[string, Fault, string]>([
    ['F24: 401', { type: 'status', status: 401 }, 'MODEL_AUTH'],
    ['F24: 403', { type: 'status', status: 403 }, 'MODEL_AUTH'],
    ['F24: 400', { type: 'status', status: 400 }, 'MODEL_BAD_REQUEST'],
    ['F24: 404', { type: 'status', status: 404 }, 'MODEL_NOT_FOUND'],
  ])('%s: the run fails at once with a typed error', async (_what, fault, expected) => {
    const env = await startWithFault(fault)
    const handle = await env.startAgent()
    const failure = await handle.result().catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({ cause: expect.any(ActivityFailure) })
    const { cause } = (failure as { readonly cause: ActivityFailure }).cause
    expect(cause).toBeInstanceOf(ApplicationFailure)
    expect(cause).toMatchObject({ type: expected, nonRetryable: true })
    expect(env.api.requests).toHaveLength(1)
    await env.expectCleanEnd(handle)
  })
})
