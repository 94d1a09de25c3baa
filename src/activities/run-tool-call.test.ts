import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../test/support/tools.js'
import { defaultLimits } from '../common/limits.js'
import type { ToolContext } from '../tools/index.js'
import { createRegistry } from '../tools/registry.js'
import { LocalStore } from '../values/local-store.js'
import { Values } from '../values/values.js'
import { type ServedCall, toolActivities } from './run-tool-call.js'

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
  tool('send', () => null, { effect: 'once' }),
  tool('exact', () => null, { input: z.object({ id: z.int() }) as never }),
])
const activities = toolActivities(registry, values, defaultLimits)

/** One attempt of a call; `reported` is what the next attempt is given. */
async function attempt(name: string, attempt: number, earlier?: unknown, minutes = 0, more: Partial<ServedCall> = {}) {
  const environment = new MockActivityEnvironment({
    attempt,
    heartbeatDetails: earlier,
    currentAttemptScheduledTimestampMs: minutes * 60_000,
  })
  let reported = earlier
  environment.on('heartbeat', (details) => (reported = details))
  const call: ServedCall = {
    tool: name,
    caller: 'direct',
    position: { turn: 1, cell: 0, index: 1 },
    idempotencyKey: 'key',
    arguments: {},
    limits: defaultLimits,
    ...more,
  }
  const result = await environment
    .run(() => activities.default(call))
    .then(
      () => 'ok' as const,
      (thrown: unknown) => thrown as { type: string; nonRetryable: boolean; nextRetryDelay?: number; message: string },
    )
  return { result, reported }
}

describe('a call on a worker that has no such tool', () => {
  it('is handed back, is no attempt of the tool, and leaves what earlier attempts reported', async () => {
    const first = await attempt('gone', 1, { details: { page: 7 } })
    expect(first.result).toMatchObject({ type: 'TOOL_NOT_REGISTERED', nonRetryable: false, nextRetryDelay: 1_000 })
    expect(first.result).toMatchObject({ stack: '' })
    const second = await attempt('gone', 2, first.reported)
    expect(second.reported).toEqual({ details: { page: 7 }, handedBack: 2, waitingSince: 0 })
    contexts.length = 0
    expect((await attempt('look', 3, second.reported)).result).toBe('ok')
    expect(contexts).toMatchObject([{ attempt: 1, heartbeatDetails: { page: 7 } }])
  })

  it('is handed back ever more seldom, and given up after ten minutes', async () => {
    const waiting = { handedBack: 3, waitingSince: 0 }
    expect((await attempt('gone', 4, waiting, 1)).result).toMatchObject({ nextRetryDelay: 6_000, nonRetryable: false })
    expect((await attempt('gone', 4, waiting, 9)).result).toMatchObject({ nextRetryDelay: 10_000, nonRetryable: false })
    const given = (await attempt('gone', 4, waiting, 10)).result
    expect(given).toMatchObject({ type: 'TOOL_NOT_REGISTERED', nonRetryable: true })
    expect(given).toMatchObject({ message: expect.stringContaining('no worker had a tool named gone for 10 min') })
  })

  it('waits anew after an attempt that ran', async () => {
    const ran = await attempt('fail', 4, { handedBack: 3, waitingSince: 0 })
    expect(ran.result).toMatchObject({ type: 'TOOL_FAILED', nonRetryable: false })
    expect((await attempt('gone', 5, ran.reported, 10)).result).toMatchObject({ nonRetryable: false })
  })

  it("lets a 'once' tool run when every attempt so far was handed back", async () => {
    expect((await attempt('send', 3, { handedBack: 2 })).result).toBe('ok')
  })
})

it("a 'once' tool does not run when an earlier attempt may have run it", async () => {
  const lost = { type: 'TOOL_OUTCOME_UNKNOWN', nonRetryable: true }
  expect((await attempt('send', 2)).result).toMatchObject(lost)
  expect((await attempt('send', 3, { handedBack: 1 })).result).toMatchObject(lost)
})

it('a tool that throws has its attempts, however often its call was handed back', async () => {
  expect((await attempt('fail', 4, { handedBack: 3 })).result).toMatchObject({ nonRetryable: false })
  expect((await attempt('fail', 5, { handedBack: 3 })).result).toMatchObject({ nonRetryable: true })
})

it('a call that is lost with its worker again and again is given up', async () => {
  expect((await attempt('look', 7)).result).toBe('ok')
  expect((await attempt('look', 8)).result).toMatchObject({ type: 'TOOL_LOST', nonRetryable: true })
  expect((await attempt('look', 9, { handedBack: 2 })).result).toBe('ok')
})

it('what a tool gave to heartbeat() is kept when it fails before the next heartbeat', async () => {
  const { result, reported } = await attempt('page', 1)
  expect(result).toMatchObject({ type: 'TOOL_FAILED' })
  contexts.length = 0
  await attempt('look', 2, reported)
  expect(contexts).toMatchObject([{ heartbeatDetails: { page: 7 } }])
})

it('arguments that a changed tool does not take are told from arguments that it never took', async () => {
  const { inputDigest } = registry.plans().find(({ name }) => name === 'exact') ?? {}
  const same = inputDigest === undefined ? {} : { inputDigest }
  expect((await attempt('exact', 1, undefined, 0, same)).result).toMatchObject({ type: 'TOOL_INPUT_INVALID' })
  expect((await attempt('exact', 1, undefined, 0, { inputDigest: 'other' })).result).toMatchObject({
    type: 'TOOL_CHANGED',
    message: expect.stringContaining('exact was changed after this run began'),
  })
})
