import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { Effect } from '../common/calls/calls.js'
import { PtcError } from '../common/errors.js'
import { defineTool } from './define-tool.js'
import type { Duration } from '../common/text/duration.js'
import type { ToolContext } from './tool-context.js'

const good = {
  name: 'get_expenses',
  description: 'Expenses of one employee.',
  input: z.object({ employee_id: z.string(), limit: z.int().default(10) }),
  output: z.array(z.object({ amount: z.number(), at: z.date().transform(String).pipe(z.string()) })),
  effect: 'read',
  run: () => [],
} as const

/** Code and message of the error of a changed definition. The definition is untyped, as in JavaScript. */
function failure(changes: Readonly<Record<string, unknown>>): {
  code: string
  message: string
  hint: string | undefined
} {
  try {
    defineTool({ ...good, ...changes })
  } catch (thrown) {
    if (PtcError.isInstance(thrown)) return { code: thrown.code, message: thrown.message, hint: thrown.hint }
    throw thrown
  }
  throw new Error('it was accepted')
}

describe('execution', () => {
  it('a tool runs as an activity by default, and may be local', () => {
    expect(defineTool(good).execution).toBeUndefined()
    expect(defineTool({ ...good, execution: 'local' }).execution).toBe('local')
  })

  it.each(['idempotent', 'once'] as const)("a tool with effect '%s' may be local", (effect) => {
    expect(defineTool({ ...good, execution: 'local', effect }).execution).toBe('local')
  })

  it("a tool whose calls may have to be compensated can't be local", () => {
    expect(failure({ execution: 'local', effect: 'idempotent', compensate: () => undefined })).toMatchObject({
      code: 'CONFIG_INVALID',
      message: "tool get_expenses: execution 'local' and compensate exclude each other",
    })
  })

  it("execution must be 'activity' or 'local'", () => {
    expect(failure({ execution: 'inline' }).message).toBe("tool get_expenses: execution must be 'activity' or 'local'")
  })
})

describe('deferred', () => {
  it('gives the run of a deferred tool a completion token, and says when a call expires', () => {
    const { deferred } = defineTool({
      ...good,
      deferred: { expires: '3d' },
      run: (_input, { completionToken }) => void expectTypeOf(completionToken).toEqualTypeOf<string>(),
    })
    expect(deferred).toEqual({ expiresMs: 3 * 24 * 60 * 60 * 1_000 })
    expect(defineTool(good).deferred).toBeUndefined()
  })

  it.each([
    [{ deferred: true }, "deferred must be an object: { expires: '3d' }"],
    [{ deferred: { expire: '3d' } }, 'deferred: unknown key "expire"'],
    [{ deferred: { expires: '367d' } }, 'deferred.expires must be'],
    [{ deferred: {} }, 'deferred.expires must be'],
    [{ deferred: { expires: '3d' }, run: undefined, activity: {} }, 'deferred is for a tool with run'],
    [{ deferred: { expires: '3d' }, execution: 'local' }, "execution 'local' is not for a deferred tool"],
  ])('a tool rejects the option deferred in %j', (changes, message) => {
    expect(failure(changes)).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) })
  })
})

describe('concurrency', () => {
  it('any tool except a local one may have a concurrency limit', () => {
    expect(defineTool(good).concurrency).toBeUndefined()
    expect(defineTool({ ...good, concurrency: 3 }).concurrency).toBe(3)
    const { run: _, ...remote } = good
    const activity = { taskQueue: 'others' }
    expect(defineTool({ ...remote, output: z.null(), activity, concurrency: 1_000 }).concurrency).toBe(1_000)
  })

  it.each([
    [{ concurrency: 0 }, 'concurrency is invalid'],
    [{ concurrency: -1 }, 'concurrency is invalid'],
    [{ concurrency: 1.5 }, 'concurrency is invalid'],
    [{ concurrency: 1_001 }, 'concurrency is invalid'],
    [{ concurrency: '3' }, 'concurrency is invalid'],
    [{ concurrency: 3, execution: 'local' }, "execution 'local' and concurrency exclude each other"],
  ])('a tool rejects the option concurrency in %j', (changes, message) => {
    expect(failure(changes)).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) })
  })
})

describe('credentials', () => {
  it('a tool declares names of credentials, each once', () => {
    expect(defineTool(good).credentials).toEqual([])
    expect(defineTool({ ...good, credentials: ['github', 'mail', 'github'] }).credentials).toEqual(['github', 'mail'])
  })

  it.each([
    [{ credentials: 'github' }, 'credentials is invalid'],
    [{ credentials: ['two words'] }, 'must be a name of letters, digits, "_" and "-"'],
    [{ credentials: ['github'], run: undefined, activity: {} }, 'credentials is for a tool with run'],
  ])('a tool rejects the option credentials in %j', (changes, message) => {
    expect(failure(changes)).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) })
  })
})

describe('defineTool', () => {
  it('infers the types of argument and result of run from the schemas', () => {
    const tool = defineTool({
      ...good,
      run(input, context) {
        expectTypeOf(input).toEqualTypeOf<{ employee_id: string; limit: number }>()
        expectTypeOf(context).toEqualTypeOf<ToolContext>()
        return [{ amount: input.limit, at: new Date() }]
      },
      summary: (input) => `expenses of ${input.employee_id}`,
      inputExamples: [{ employee_id: 'ENG001' }],
    })
    type Run = (typeof tool)['run']
    expectTypeOf<Parameters<Run>[0]>().toEqualTypeOf<{ employee_id: string; limit: number }>()
    expectTypeOf<Awaited<ReturnType<Run>>>().toEqualTypeOf<{ amount: number; at: Date }[]>()
    // @ts-expect-error a result that the output schema forbids
    defineTool({ ...good, run: () => [{ amount: 'much' }] })
    // @ts-expect-error effect is missing
    expect(() => defineTool({ ...good, effect: undefined })).toThrow('effect')
    expect(tool.name).toBe('get_expenses')
  })

  it('a tool gets all defaults', () => {
    const tool = defineTool(good)
    expect(tool).toMatchObject({
      timeoutMs: 60_000,
      attempts: 3,
      allowedCallers: ['direct', 'code_execution'],
      offeredTo: ['code_execution'],
      inputExamples: [],
    })
    expect(Object.isFrozen(tool)).toBe(true)
  })

  it("gives a 'once' tool one attempt, and rejects more", () => {
    expect(defineTool({ ...good, effect: 'once' }).attempts).toBe(1)
    expect(failure({ effect: 'once', retry: { attempts: 2 } })).toMatchObject({
      code: 'CONFIG_INVALID',
      message: "tool get_expenses: retry can only be { attempts: 1 } for effect 'once'",
    })
  })

  it.each<[Duration, number]>([
    ['30s', 30_000],
    ['1.5m', 90_000],
    ['250ms', 250],
    [1_234, 1_234],
  ])('reads the timeout %s of a tool as %d ms', (timeout, ms) => {
    expect(defineTool({ ...good, timeout }).timeoutMs).toBe(ms)
  })

  it.each(['30 sec', '', -1, 0, Number.NaN, '25h25', '600h', {}])('rejects the timeout %j of a tool', (timeout) => {
    expect(failure({ timeout })).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('timeout must be'),
    })
  })

  it.each([
    ['', 'is not 1 to 64 letters'],
    ['two words', 'is not 1 to 64 letters'],
    ['.hidden', 'is not 1 to 64 letters'],
    ['é', 'is not 1 to 64 letters'],
    ['a'.repeat(65), 'is not 1 to 64 letters'],
    ['a\nb', 'is not 1 to 64 letters'],
    ['run.config', 'is an activity of the engine'],
    ['pay.compensate', 'is an activity of the engine'],
    ['execute_code', 'is the name of the code tool itself'],
    ['read_more', 'is the name of the tool that reads the rest of a result'],
    ['search_tools', 'is the name of the tool that searches the documentation'],
    ['__proto__', 'can not be the key of an object'],
  ])('refuses %s as the name of a tool', (name, problem) => {
    expect(failure({ name })).toMatchObject({ code: 'TOOL_NAME_INVALID', message: expect.stringContaining(problem) })
  })

  it.each([undefined, null, 7])('rejects %j as the name of a tool', (name) => {
    expect(failure({ name }).code).toBe('TOOL_NAME_INVALID')
  })

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['no description', { description: ' ' }, 'tool get_expenses: description is missing'],
    ['no run', { run: undefined }, 'tool get_expenses: run is missing'],
    ['a misspelt key', { efect: 'read' }, 'tool get_expenses: unknown key "efect". Did you mean "effect"?'],
    ['an unknown key', { nope: 1 }, 'tool get_expenses: unknown key "nope"'],
    ['a summary that is no function', { summary: 1 }, 'tool get_expenses: summary must be a function of the input'],
    ['a retry that is no object', { retry: 3 }, 'tool get_expenses: retry must be an object'],
    [
      'a misspelt key of retry',
      { retry: { atempts: 3 } },
      'tool get_expenses: retry is invalid:\n- Unrecognized key: "atempts"',
    ],
    ['examples that are no array', { inputExamples: 1 }, 'tool get_expenses: inputExamples must be an array'],
    ['no effect', { effect: undefined }, "tool get_expenses: effect must be 'read' or 'idempotent' or 'once'"],
    [
      'a caller nobody knows',
      { allowedCallers: ['cron'] },
      "tool get_expenses: allowedCallers must be 'direct' or 'code_execution'",
    ],
    [
      'no callers at all',
      { allowedCallers: [] },
      "tool get_expenses: allowedCallers must be 'direct' or 'code_execution'",
    ],
    ['an input that is no object', { input: z.string() }, 'tool get_expenses: input must be a z.object(…)'],
    ['an input that is no schema', { input: 'object' }, 'tool get_expenses: input must be a zod schema'],
    ['a zod 3 schema', { output: { _def: { typeName: 'ZodString' } } }, 'tool get_expenses: output is a zod 3 schema'],
    [
      'an output that JSON cannot represent',
      { output: z.date() },
      "tool get_expenses: output can't be shown as JSON Schema: Date",
    ],
    [
      'an input that JSON cannot represent',
      { input: z.object({ a: z.bigint() }) },
      "tool get_expenses: input can't be shown",
    ],
    [
      'an example that breaks the schema',
      { inputExamples: [{ employee_id: 7 }] },
      'inputExamples[0] breaks the input schema:\n- employee_id: ',
    ],
    [
      'an example with an unknown argument',
      { inputExamples: [{ employee_id: 'a', limt: 2 }] },
      'Unrecognized key: "limt"',
    ],
    [
      'an example that is not JSON',
      { inputExamples: [{ employee_id: new Date() }] },
      'inputExamples[0].employee_id is not JSON: it is a Date',
    ],
    ['zero attempts', { retry: { attempts: 0 } }, 'retry is invalid:\n- attempts: '],
  ])('refuses the definition of a tool with %s', (_what, changes, message) => {
    const failed = failure(changes)
    expect(failed.code).toBe('CONFIG_INVALID')
    expect(failed.message).toContain(message)
  })

  it('explains the effects when the effect of a tool is missing', () => {
    expect(failure({ effect: 'write' }).hint).toContain("'once' must not happen twice")
  })

  it('a tool accepts every effect', () => {
    for (const effect of ['read', 'idempotent', 'once'] satisfies Effect[])
      expect(defineTool({ ...good, effect }).effect).toBe(effect)
  })

  it('creates an input schema for the Messages API, without redundant keywords', () => {
    const Filter = z.object({ since: z.iso.date(), page: z.int() })
    const { inputSchema } = defineTool({ ...good, input: Filter })
    expect(inputSchema).toEqual({
      type: 'object',
      properties: { since: { type: 'string', format: 'date' }, page: { type: 'integer' } },
      required: ['since', 'page'],
      additionalProperties: false,
    })
  })

  it('inlines a root schema with an id', () => {
    const Row = z
      .object({
        id: z.int(),
        get parent() {
          return Row.nullable()
        },
      })
      .meta({ id: 'DefineToolRow' })
    const { outputSchema } = defineTool({ ...good, output: Row, run: () => ({ id: 1, parent: null }) })
    expect(outputSchema).toMatchObject({
      title: 'DefineToolRow',
      type: 'object',
      $defs: { DefineToolRow: { type: 'object' } },
    })
  })
})
