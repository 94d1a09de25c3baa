import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../define-tool.js'
import type { CompensatedCall } from '../tool-definition.js'
import { createRegistry } from '../registry.js'
import { type LoadedCall, runCompensation } from './run-compensation.js'
import type { ToolRunContext } from './run-tool.js'
import { ToolError } from '../tool-error.js'
import type { ToolContext } from '../tool-context.js'

type Call = CompensatedCall<{ readonly days: number }, { readonly id: string }>

const context: ToolRunContext = {
  signal: new AbortController().signal,
  attempt: 2,
  heartbeat: () => {},
  log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  run: { namespace: 'default', workflowId: 'w', runId: 'r', agent: undefined },
  context: { tenant: 'acme' },
}
const call: LoadedCall = {
  tool: 'book',
  caller: 'direct',
  idempotencyKey: 'key-1',
  arguments: {},
  result: { id: 'b-1' },
}

function run(
  compensate: (call: Call, context: ToolContext) => void | Promise<void>,
  made: Partial<LoadedCall> = {},
): Promise<void> {
  const tool = defineTool({
    name: 'book',
    description: 'Books.',
    input: z.object({ days: z.int().default(7) }),
    output: z.object({ id: z.string() }),
    effect: 'once',
    timeout: 50,
    run: () => ({ id: 'b-1' }),
    compensate,
  })
  return runCompensation(createRegistry([tool]), { ...call, ...made }, context)
}

describe('a compensation', () => {
  it('a compensation gets the parsed arguments, the result and the key of the call, and its own key', async () => {
    const seen: unknown[] = []
    await run((compensated, { idempotencyKey, caller, attempt, context: runContext }) => {
      seen.push(compensated, { idempotencyKey, caller, attempt, runContext })
    })
    expect(seen).toEqual([
      { arguments: { days: 7 }, result: { id: 'b-1' }, idempotencyKey: 'key-1' },
      { idempotencyKey: 'key-1/compensate', caller: 'direct', attempt: 2, runContext: { tenant: 'acme' } },
    ])
  })

  it('a compensation gets no result when the outcome of the call is unknown', async () => {
    const results: unknown[] = []
    await run(({ result }) => void results.push(result), { result: undefined })
    expect(results).toEqual([undefined])
  })

  it.each([
    ['TOOL_REFUSED', () => Promise.reject(new ToolError('already gone'))],
    ['TOOL_FAILED', () => Promise.reject(new Error('no connection'))],
    ['TOOL_TIMED_OUT', () => new Promise<void>(() => {})],
  ])('a compensation fails with %s', async (code, compensate) => {
    await expect(run(compensate)).rejects.toMatchObject({ code })
  })

  it('a compensation does not run when the tool no longer accepts the arguments or has no inverse', async () => {
    await expect(run(() => {}, { arguments: { days: 'many' } })).rejects.toMatchObject({ code: 'TOOL_INPUT_INVALID' })
    await expect(run(() => {}, { tool: 'other' })).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' })
  })
})
