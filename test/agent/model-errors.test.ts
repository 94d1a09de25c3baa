import { describe, expect, it } from 'vitest'
import { ActivityFailure, ApplicationFailure } from '@temporalio/common'
import type { Fault } from '../../src/testing/index.js'
import type { Duration } from '../../src/tools/duration.js'
import { faulty, text, turn } from '../support/script.js'
import { Stack } from '../support/stack.js'

/** An agent whose one turn meets this fault on its first attempt. */
function meeting(fault: Fault, idleTimeout: Duration = '30s') {
  return Stack.start({
    model: { idleTimeout },
    script: [faulty([{ ...fault, attempt: 1 }], turn(text('said in the end')))],
  })
}

/** Why the attempt before the last one failed, as the start of the last one tells. */
async function lastFailure(stack: Stack) {
  const { events } = await stack.history()
  const started = events.findLast(({ activityTaskStartedEventAttributes: event }) => event?.lastFailure)
  return started?.activityTaskStartedEventAttributes?.lastFailure?.applicationFailureInfo
}

describe('the model is asked again after', () => {
  it.each<[string, Fault, string]>([
    ['529 overloaded', { type: 'status', status: 529 }, 'MODEL_OVERLOADED'],
    ['500', { type: 'status', status: 500 }, 'MODEL_SERVER'],
    ['a stream cut in the middle', { type: 'cut', at: { insideBlock: 0 }, manner: 'end' }, 'MODEL_STREAM'],
    ['a connection that is reset', { type: 'close', manner: 'reset' }, 'MODEL_CONNECTION'],
  ])('%s', async (_what, fault, failure) => {
    const stack = await meeting(fault)
    expect(await stack.ask()).toMatchObject({ status: 'answered', answer: 'said in the end', turns: 1 })
    expect(stack.api.requests).toHaveLength(2)
    expect((await lastFailure(stack))?.type).toBe(failure)
  })

  it('a stream that falls silent', async () => {
    const stack = await meeting({ type: 'stall', at: { insideBlock: 0 } }, '3s')
    expect(await stack.ask()).toMatchObject({ status: 'answered', answer: 'said in the end' })
    expect(stack.api.requests).toHaveLength(2)
    expect((await lastFailure(stack))?.type).toBe('MODEL_TIMEOUT')
  })

  it('429, no sooner than retry-after says', async () => {
    const stack = await meeting({ type: 'status', status: 429, headers: { 'retry-after': '3' } })
    const begun = performance.now()
    expect(await stack.ask()).toMatchObject({ answer: 'said in the end' })
    expect(performance.now() - begun).toBeGreaterThan(2_900)
    const failure = await lastFailure(stack)
    expect(failure?.type).toBe('MODEL_RATE_LIMIT')
    expect(Number(failure?.nextRetryDelay?.seconds)).toBe(3)
  })
})

describe('the run fails at once, typed, after', () => {
  it.each<[string, Fault, string]>([
    ['401', { type: 'status', status: 401 }, 'MODEL_AUTH'],
    ['400', { type: 'status', status: 400 }, 'MODEL_BAD_REQUEST'],
    ['404', { type: 'status', status: 404 }, 'MODEL_NOT_FOUND'],
  ])('%s', async (_what, fault, expected) => {
    const stack = await meeting(fault)
    const handle = await stack.startAgent()
    const failure = await handle.result().catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({ cause: expect.any(ActivityFailure) })
    const { cause } = (failure as { readonly cause: ActivityFailure }).cause
    expect(cause).toBeInstanceOf(ApplicationFailure)
    expect(cause).toMatchObject({ type: expected, nonRetryable: true })
    expect(stack.api.requests).toHaveLength(1)
    await stack.leftClean(handle)
  })
})
