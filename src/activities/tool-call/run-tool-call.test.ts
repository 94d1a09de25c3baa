import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../test/support/tools.js'
import type { ToolActivityInput } from '../../common/calls/call-activities.js'
import { defaultLimits } from '../../common/run/limits.js'
import type { ToolContext } from '../../tools/index.js'
import { createRegistry } from '../../tools/registry.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { toolCall } from './run-tool-call.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))

const contexts: ToolContext[] = []
const registry = createRegistry([
  tool('look', (_input, context) => contexts.push(context), { retry: { attempts: 2 } }),
  tool('fail', () => Promise.reject(new Error('broken')), { retry: { attempts: 2 } }),
  tool('page', (_input, { heartbeat }) => {
    heartbeat({ page: 7 })
    heartbeat()
    throw new Error('broken')
  }),
  tool('tell', (_input, { milestone }) => {
    milestone('copied 3 of 10 pages')
    throw new Error('broken')
  }),
  tool('send', () => null, { effect: 'once' }),
  tool('exact', () => null, { input: z.object({ id: z.int() }) as never }),
])
const callTool = toolCall({ registry, values, limits: defaultLimits })

/** Runs one attempt of a call; `reported` are the heartbeat details for the next attempt. */
async function attempt(
  name: string,
  attempt: number,
  earlier?: unknown,
  minutes = 0,
  more: Partial<ToolActivityInput> = {},
) {
  const environment = new MockActivityEnvironment({
    activityType: name,
    attempt,
    heartbeatDetails: earlier,
    currentAttemptScheduledTimestampMs: minutes * 60_000,
  })
  let reported = earlier
  environment.on('heartbeat', (details) => (reported = details))
  const call: ToolActivityInput = {
    tool: name,
    caller: 'direct',
    position: { turn: 1, cell: 0, index: 1 },
    idempotencyKey: 'key',
    arguments: {},
    limits: defaultLimits,
    inputDigest: registry.toolConfigs().find((config) => config.name === name)?.inputDigest ?? '',
    ...more,
  }
  const result = await environment
    .run(() => callTool(call))
    .then(
      () => 'ok' as const,
      (thrown: unknown) => thrown as { type: string; nonRetryable: boolean; nextRetryDelay?: number; message: string },
    )
  return { result, reported }
}

describe('a call on a worker without the tool', () => {
  it('a call on a worker without the tool is retried, does not count, and keeps heartbeat details', async () => {
    const first = await attempt('gone', 1, { details: { page: 7 } })
    expect(first.result).toMatchObject({ type: 'TOOL_NOT_REGISTERED', nonRetryable: false, nextRetryDelay: 1_000 })
    expect(first.result).toMatchObject({ stack: '' })
    const second = await attempt('gone', 2, first.reported)
    expect(second.reported).toEqual({ details: { page: 7 }, unregisteredAttempts: 2, unregisteredSince: 0 })
    contexts.length = 0
    expect((await attempt('look', 3, second.reported)).result).toBe('ok')
    expect(contexts).toMatchObject([{ attempt: 1, heartbeatDetails: { page: 7 } }])
  })

  it('a call on workers without the tool is retried with growing delays, and fails after ten minutes', async () => {
    const waiting = { unregisteredAttempts: 3, unregisteredSince: 0 }
    expect((await attempt('gone', 4, waiting, 1)).result).toMatchObject({ nextRetryDelay: 6_000, nonRetryable: false })
    expect((await attempt('gone', 4, waiting, 9)).result).toMatchObject({ nextRetryDelay: 10_000, nonRetryable: false })
    const last = (await attempt('gone', 4, waiting, 10)).result
    expect(last).toMatchObject({ type: 'TOOL_NOT_REGISTERED', nonRetryable: true })
    expect(last).toMatchObject({ message: expect.stringContaining('no worker had a tool named gone for 10 min') })
  })

  it('the time limit for a missing tool starts again after an attempt that ran the tool', async () => {
    const ran = await attempt('fail', 4, { unregisteredAttempts: 3, unregisteredSince: 0 })
    expect(ran.result).toMatchObject({ type: 'TOOL_FAILED', nonRetryable: false })
    expect((await attempt('gone', 5, ran.reported, 10)).result).toMatchObject({ nonRetryable: false })
  })

  it("a 'once' tool runs when no earlier attempt found the tool", async () => {
    expect((await attempt('send', 3, { unregisteredAttempts: 2 })).result).toBe('ok')
  })
})

it("a 'once' tool that an earlier attempt may have run does not run again", async () => {
  const lost = { type: 'TOOL_OUTCOME_UNKNOWN', nonRetryable: true }
  expect((await attempt('send', 2)).result).toMatchObject(lost)
  expect((await attempt('send', 3, { unregisteredAttempts: 1 })).result).toMatchObject(lost)
})

it('a tool gets all its attempts, regardless of attempts on workers without it', async () => {
  expect((await attempt('fail', 4, { unregisteredAttempts: 3 })).result).toMatchObject({ nonRetryable: false })
  expect((await attempt('fail', 5, { unregisteredAttempts: 3 })).result).toMatchObject({ nonRetryable: true })
})

it('a call fails when its workers are lost repeatedly', async () => {
  expect((await attempt('look', 7)).result).toBe('ok')
  expect((await attempt('look', 8)).result).toMatchObject({ type: 'TOOL_LOST', nonRetryable: true })
  expect((await attempt('look', 9, { unregisteredAttempts: 2 })).result).toBe('ok')
})

it('details of heartbeat() are kept when the tool fails before the next heartbeat is sent', async () => {
  const { result, reported } = await attempt('page', 1)
  expect(result).toMatchObject({ type: 'TOOL_FAILED' })
  contexts.length = 0
  await attempt('look', 2, reported)
  expect(contexts).toMatchObject([{ heartbeatDetails: { page: 7 } }])
})

it('heartbeats of a call have the last milestone, which the next attempt does not get as details', async () => {
  const { reported } = await attempt('tell', 1)
  expect(reported).toMatchObject({ milestone: 'copied 3 of 10 pages' })
  contexts.length = 0
  await attempt('look', 2, reported)
  expect(contexts[0]?.heartbeatDetails).toBeUndefined()
})

it('arguments that only a changed tool refuses are distinguished from invalid arguments', async () => {
  expect((await attempt('exact', 1)).result).toMatchObject({ type: 'TOOL_INPUT_INVALID' })
  expect((await attempt('exact', 1, undefined, 0, { inputDigest: 'other' })).result).toMatchObject({
    type: 'TOOL_CHANGED',
    message: expect.stringContaining('exact was changed after this run began'),
  })
})
