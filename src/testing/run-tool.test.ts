import { CancelledFailure } from '@temporalio/common'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isExternal } from '../common/json/external-value.js'
import { defineTool, type Duration, ToolError, type ToolContext, type ToolLog } from '../tools/index.js'
import { runTool } from './run-tool.js'

const silent: ToolLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const contexts: ToolContext[] = []
const takeLeave = defineTool({
  name: 'take_leave',
  description: 'Takes days of leave.',
  input: z.object({ days: z.int().default(1), note: z.string().optional() }),
  output: z.object({ left: z.number(), on: z.string().default('1970-01-01') }),
  effect: 'idempotent',
  run: ({ days }, context) => {
    contexts.push(context)
    return { left: 30 - days }
  },
})

/** A tool that accepts any input and runs a function of the test. */
const toolOf = (
  run: (context: ToolContext) => unknown,
  options: { readonly effect?: 'read' | 'once'; readonly attempts?: number; readonly timeout?: Duration } = {},
) =>
  defineTool({
    name: 'work',
    description: 'Works.',
    input: z.looseObject({}),
    output: z.json(),
    effect: options.effect ?? 'read',
    ...(options.attempts === undefined ? {} : { retry: { attempts: options.attempts } }),
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    run: async (_input, context) => (await run(context)) as z.core.util.JSONType,
  })

it('returns the result of a tool with the defaults of input and output', async () => {
  const { left, on } = await runTool(takeLeave, {})
  expect([left, on]).toEqual([29, '1970-01-01'])
  expect(await runTool(takeLeave, { days: 4, note: undefined })).toEqual({ left: 26, on: '1970-01-01' })
})

it('returns results of any size and form', async () => {
  const reference = { 'ptc.value': { sha256: '0'.repeat(64), bytes: 1, preview: '' } }
  expect(isExternal(reference)).toBe(true)
  for (const value of ['x'.repeat(100_000), reference]) {
    const [echo, input] = [defineTool({ ...echoDefinition, run: ({ value }) => value }), { value }]
    expect(await runTool(echo, input)).toEqual(value)
  }
})

const echoDefinition = {
  name: 'echo',
  description: 'Returns its argument.',
  input: z.object({ value: z.json() }),
  output: z.json(),
  effect: 'read',
} as const

describe('the context', () => {
  it('the context of a tool has caller, attempt, heartbeat details and a key that every attempt shares', async () => {
    contexts.length = 0
    await runTool(takeLeave, { days: 2 })
    await runTool(takeLeave, { days: 2 }, { attempt: 2, caller: 'direct', heartbeatDetails: { page: 7 } })
    await runTool(takeLeave, { days: 3 }, { idempotencyKey: 'my-key' })
    const [first, second, third] = contexts
    expect(first).toMatchObject({ caller: 'code_execution', attempt: 1 })
    expect(first).not.toMatchObject({ heartbeatDetails: expect.anything() })
    expect(second).toMatchObject({ caller: 'direct', attempt: 2, heartbeatDetails: { page: 7 } })
    expect(second?.idempotencyKey).toBe(first?.idempotencyKey)
    expect(third?.idempotencyKey).toBe('my-key')
  })

  it('passes heartbeats and log entries of a tool to the test', async () => {
    const heartbeats: unknown[] = []
    const entries: unknown[] = []
    const log = { ...silent, info: (message: string, fields?: object) => entries.push([message, fields]) }
    const work = toolOf((context) => {
      context.heartbeat({ page: 1 })
      context.heartbeat()
      context.log.info('read', { page: 1 })
      return null
    })
    await runTool(work, {}, { onHeartbeat: (details) => heartbeats.push(details), log })
    expect(heartbeats).toEqual([{ page: 1 }, undefined])
    expect(entries).toMatchObject([['read', { page: 1 }]])
  })

  it('aborts the signal of the tool when the test cancels the call', async () => {
    const controller = new AbortController()
    let reason: unknown
    const work = toolOf(({ signal }) => {
      signal.addEventListener('abort', () => (reason = signal.reason))
      controller.abort()
      return new Promise(() => undefined)
    })
    await expect(runTool(work, {}, { signal: controller.signal, log: silent })).rejects.toThrow(CancelledFailure)
    expect(reason).toBeInstanceOf(CancelledFailure)
    await expect(runTool(takeLeave, {}, { signal: controller.signal })).rejects.toThrow(CancelledFailure)
  })
})

describe('a deferred tool', () => {
  const asked: { readonly invoice: string; readonly token: string }[] = []
  const approve = defineTool({
    name: 'approve',
    description: 'Asks a person.',
    input: z.object({ invoice: z.string() }),
    output: z.object({ approved: z.boolean() }),
    effect: 'idempotent',
    deferred: { expires: '3d' },
    run: ({ invoice }, { completionToken, heartbeat }) => {
      heartbeat({ invoice })
      if (invoice === 'INV-0') throw new ToolError('no invoice INV-0')
      asked.push({ invoice, token: completionToken })
    },
  })

  it('a deferred tool gets a completion token, the same in every attempt and another one for another call', async () => {
    const heartbeats: unknown[] = []
    expect(await runTool(approve, { invoice: 'a' }, { onHeartbeat: (details) => heartbeats.push(details) })).toBeNull()
    await runTool(approve, { invoice: 'a' }, { attempt: 2 })
    await runTool(approve, { invoice: 'b' })
    const [first, second, third] = asked.map(({ token }) => token)
    expect(first).toMatch(/^[\w-]+$/)
    expect([second === first, third === first]).toEqual([true, false])
    expect(heartbeats).toEqual([{ invoice: 'a' }])
  })

  it('a deferred tool fails like any other tool', async () => {
    await expect(runTool(approve, { invoice: 'INV-0' }, { log: silent })).rejects.toMatchObject({
      type: 'TOOL_REFUSED',
    })
  })
})

describe('failures', () => {
  const refuse = toolOf(() => Promise.reject(new ToolError('no such invoice')))
  const fail = toolOf(() => Promise.reject(new Error('connection lost')), { attempts: 2 })

  it('a ToolError is final, and any other error is retried until the last attempt', async () => {
    const failed = { type: 'TOOL_FAILED', message: expect.stringContaining('connection lost') }
    await expect(runTool(refuse, {}, { log: silent })).rejects.toMatchObject({
      type: 'TOOL_REFUSED',
      message: 'no such invoice',
      nonRetryable: true,
    })
    await expect(runTool(fail, {}, { log: silent })).rejects.toMatchObject({ ...failed, nonRetryable: false })
    await expect(runTool(fail, {}, { attempt: 2, log: silent })).rejects.toMatchObject({
      ...failed,
      nonRetryable: true,
    })
  })

  it('runTool refuses invalid input before the tool runs', async () => {
    contexts.length = 0
    const wrong = { days: 'two' } as unknown as { days: number }
    await expect(runTool(takeLeave, wrong)).rejects.toMatchObject({
      type: 'TOOL_INPUT_INVALID',
      message: expect.stringContaining('days'),
    })
    const tiny = { limits: { argumentBytes: 10 } }
    await expect(runTool(takeLeave, { note: 'longer' }, tiny)).rejects.toMatchObject({ nonRetryable: true })
    expect(contexts).toEqual([])
  })

  it('runTool refuses invalid and too large output', async () => {
    const wrong = defineTool({ ...echoDefinition, output: z.string(), run: () => 7 as unknown as string })
    await expect(runTool(wrong, { value: 1 })).rejects.toMatchObject({ type: 'TOOL_OUTPUT_INVALID' })
    const limits = { resultBytes: 10 }
    await expect(
      runTool(
        toolOf(() => 'x'.repeat(20)),
        {},
        { limits },
      ),
    ).rejects.toMatchObject({
      type: 'TOOL_RESULT_TOO_LARGE',
    })
  })

  it('runTool refuses a caller that the tool does not allow, and chooses an allowed one', async () => {
    const direct = defineTool({ ...echoDefinition, allowedCallers: ['direct'], run: (_input, { caller }) => caller })
    expect(await runTool(direct, { value: 1 })).toBe('direct')
    await expect(runTool(direct, { value: 1 }, { caller: 'code_execution' })).rejects.toMatchObject({
      type: 'TOOL_NOT_ALLOWED',
    })
  })

  it('runTool fails a tool that exceeds its timeout, and aborts its signal', async () => {
    let aborted: AbortSignal | undefined
    const slow = toolOf(
      ({ signal }) => {
        aborted = signal
        return new Promise(() => undefined)
      },
      { timeout: '50ms' },
    )
    await expect(runTool(slow, {})).rejects.toMatchObject({ type: 'TOOL_TIMED_OUT' })
    expect(aborted?.aborted).toBe(true)
  })

  it("runTool does not run the second attempt of a 'once' tool", async () => {
    const runs: unknown[] = []
    const once = toolOf(() => runs.push(null), { effect: 'once' })
    await expect(runTool(once, {}, { attempt: 2 })).rejects.toMatchObject({ type: 'TOOL_OUTCOME_UNKNOWN' })
    expect(runs).toEqual([])
  })
})
