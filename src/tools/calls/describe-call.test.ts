import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callDigest } from '../../common/calls/call-identity.js'
import { emojiText, invisibleCharacters } from '../../../test/support/faults/invisible-characters.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { defaultLimits } from '../../common/run/limits.js'
import { defineTool } from '../define-tool.js'
import { describeCall } from './describe-call.js'
import { createRegistry } from '../registry.js'

const input = z.object({ employee_id: z.string(), quarter: z.enum(['Q1', 'Q2', 'Q3', 'Q4']) })
const base = { description: 'x', input, output: z.null(), effect: 'read', run: () => null } as const
const registry = createRegistry([
  defineTool({ ...base, name: 'get_expenses' }),
  defineTool({ ...base, name: 'code_only', allowedCallers: ['code_execution'] }),
  defineTool({ ...base, name: 'direct_only', allowedCallers: ['direct'] }),
  defineTool({ ...base, name: 'custom_summary', summary: ({ employee_id }) => `expenses\nof\u202E ${employee_id}` }),
  defineTool({
    ...base,
    name: 'throwing_summary',
    summary: () => {
      throw new Error('no')
    },
  }),
  defineTool({ ...base, name: 'undefined_summary', summary: () => undefined as unknown as string }),
  defineTool({ ...base, name: 'slow_check', input: z.object({ id: z.string().refine(async () => true) }) }),
  defineTool({
    ...base,
    name: 'broken_check',
    input: z.object({
      id: z.string().refine(() => {
        throw new Error('oops')
      }),
    }),
  }),
  defineTool({ ...base, name: 'anything', input: z.looseObject({}) }),
])
const good = { employee_id: 'ENG001', quarter: 'Q3' }

function describeIt(tool: string, args: JsonObject, caller: 'direct' | 'code_execution' = 'code_execution') {
  return describeCall(registry, defaultLimits, { tool, arguments: args }, caller, true)
}

describe('describeCall', () => {
  it('describes a valid call, with summary and digest', () => {
    expect(describeIt('get_expenses', good)).toEqual({
      summary: 'get_expenses ENG001 Q3',
      digest: callDigest('get_expenses', good),
      refused: null,
    })
  })

  it('the digest of a call does not depend on the order of its arguments', () => {
    expect(describeIt('get_expenses', { quarter: 'Q3', employee_id: 'ENG001' }).digest).toBe(
      describeIt('get_expenses', good).digest,
    )
  })

  it('refuses only arguments that no tool accepts when the run recorded other tools', () => {
    const described = (tool: string, args: JsonObject) =>
      describeCall(registry, defaultLimits, { tool, arguments: args }, 'direct', false)
    expect(described('gone', good)).toMatchObject({ summary: 'gone ENG001 Q3', refused: null })
    expect(described('get_expenses', { id: 1 })).toMatchObject({ summary: 'get_expenses 1', refused: null })
    expect(described('code_only', good)).toMatchObject({ refused: null })
    const long = { text: 'x'.repeat(defaultLimits.argumentBytes) }
    expect(described('get_expenses', long)).toMatchObject({ refused: { status: 'invalid_arguments' } })
  })

  it('denies a call of an unknown tool, and lists the known ones', () => {
    const { refused } = describeIt('get_expense', good)
    expect(refused).toMatchObject({
      status: 'denied',
      message: expect.stringContaining('There is no tool named "get_expense". There are: get_expenses, code_only'),
    })
    expect(refused).not.toMatchObject({ message: expect.stringContaining('direct_only') })
  })

  it.each(['__proto__', 'constructor'])('denies a call of the tool %s', (name) => {
    expect(describeIt(name, good).refused).toMatchObject({ status: 'denied' })
  })

  it('denies a call by a caller that the tool does not allow', () => {
    expect(describeIt('code_only', good, 'direct').refused).toEqual({
      status: 'denied',
      message: 'code_only is not allowed here: only code that runs in execute_code may call it.',
    })
    expect(describeIt('direct_only', good).refused).toEqual({
      status: 'denied',
      message: 'direct_only is not allowed here: code may not call it; call it directly.',
    })
  })

  it('lists the issues of invalid arguments', () => {
    expect(describeIt('get_expenses', { employee_id: 1, quarter: 'Q9', employe: 'x' }).refused).toEqual({
      status: 'invalid_arguments',
      message:
        'The arguments do not fit get_expenses:\n- employee_id: expected string, received number\n- quarter: Invalid option: expected one of "Q1"|"Q2"|"Q3"|"Q4"\n- Unrecognized key: "employe"',
    })
  })

  it('refuses arguments over the byte limit, without traversing all of them', () => {
    const limits = { ...defaultLimits, argumentBytes: 1_000 }
    const call = { tool: 'anything', arguments: { text: 'x'.repeat(50_000_000) } }
    expect(describeCall(registry, limits, call, 'direct', true).refused).toEqual({
      status: 'invalid_arguments',
      message: 'The arguments are over the limit of 1000 bytes. Send less.',
    })
  })

  it('accepts arguments with 20,000 values, and refuses one more', () => {
    // The counted values are the object, its list, and the items of the list.
    const described = (values: number) => describeIt('anything', { rows: Array.from({ length: values - 2 }, () => 0) })
    expect(described(20_000).refused).toBeNull()
    expect(described(20_001).refused).toEqual({
      status: 'invalid_arguments',
      message: 'The arguments are over the limit of 20000 values. Send less.',
    })
  })

  it("uses the tool's own summary of a call, as one plain line with visible direction marks", () => {
    expect(describeIt('custom_summary', good).summary).toBe('expenses of<U+202E> ENG001')
  })

  it.each(invisibleCharacters)('shows %j in a summary', (character) => {
    expect(describeIt('anything', { to: `ada${character}x` }).summary).toMatch(/^anything ada<U\+[0-9A-F]{4,5}>x$/)
  })

  it('keeps emoji in a summary', () => {
    expect(describeIt('anything', { to: emojiText }).summary).toBe(`anything ${emojiText}`)
  })

  it.each(['throwing_summary', 'undefined_summary'])('uses the default summary for tool %s', (name) => {
    expect(describeIt(name, good).summary).toBe(`${name} ENG001 Q3`)
  })

  it('leaves asynchronous checks to runTool, and refuses a call when a check throws', () => {
    expect(describeIt('slow_check', { id: 'a' }).refused).toBeNull()
    expect(describeIt('broken_check', { id: 'a' }).refused).toMatchObject({
      status: 'invalid_arguments',
      message: expect.stringContaining('oops'),
    })
  })

  it('truncates the summary of a call to 200 characters, never within a surrogate pair', () => {
    const { summary } = describeIt(
      'anything',
      Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, '😀😀'])),
    )
    expect(summary.length).toBeLessThanOrEqual(200)
    expect(summary).not.toMatch(/\p{Surrogate}/u)
  })

  it.each<[string, () => JsonObject]>([
    ['10,000 levels of nesting', () => nested(10_000)],
    [
      'themselves',
      () => {
        const self: Record<string, JsonValue> = {}
        self['self'] = self
        return self
      },
    ],
    ['shared parts without end', () => shared(64)],
    ['a lone surrogate', () => ({ employee_id: '\uD800', quarter: '\u0000\u001B[31m' })],
    [
      '__proto__ as a key',
      () =>
        JSON.parse('{"__proto__":{"employee_id":"a"},"constructor":1,"employee_id":"a","quarter":"Q1"}') as JsonObject,
    ],
    [
      'thirty thousand keys',
      () => Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [String(index), 1])),
    ],
    ['something JSON does not have', () => ({ a: 1n }) as unknown as JsonObject],
  ])('describing a call does not throw for arguments with %s', (_what, make) => {
    const { summary, refused } = describeIt('get_expenses', make())
    expect(refused?.status).toBe('invalid_arguments')
    expect(summary).toMatch(/^get_expenses/)
    expect(summary).not.toMatch(/\p{Cc}/u)
    expect(JSON.stringify(refused).length).toBeLessThan(3_000)
  })

  it('describing a call does not confuse a __proto__ argument with the prototype', () => {
    const args = JSON.parse('{"__proto__":{"employee_id":"a","quarter":"Q1"}}') as JsonObject
    expect(describeIt('get_expenses', args).refused?.status).toBe('invalid_arguments')
  })
})

function nested(levels: number): JsonObject {
  let value: JsonObject = {}
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}

/** An object that has 2^levels leaves and only `levels` objects. */
function shared(levels: number): JsonObject {
  let value: JsonObject = {}
  for (let level = 0; level < levels; level++) value = { a: value, b: value }
  return value
}

it('passes every summary to the redaction hook, with the name of the tool', () => {
  const hidden = createRegistry(
    [defineTool({ ...base, name: 'get_expenses' })],
    (text, { kind, tool }) => `${kind} of ${tool}: ${text.replace('ENG001', '…')}\nx`,
  )
  const args = [good, { employee_id: 'ENG001', quarter: 'Q9' }]
  const summaries = [...args.map((each) => ['get_expenses', each] as const), ['unknown', good] as const].map(
    ([tool, each]) => describeCall(hidden, defaultLimits, { tool, arguments: each }, 'direct', true).summary,
  )
  expect(summaries).toEqual([
    'arguments of get_expenses: get_expenses … Q3 x',
    'arguments of get_expenses: get_expenses … Q9 x',
    'arguments of unknown: unknown … Q3 x',
  ])
  expect(hidden.subset(['get_expenses']).redact('ENG001', { kind: 'code' })).toContain('code of undefined: …')
})

describe('arguments that take long to check', () => {
  const kinds = Array.from({ length: 2_000 }, (_, n) => ({ type: 'object', properties: { kind: { const: `k${n}` } } }))
  const slow = createRegistry([
    defineTool({
      ...base,
      name: 'slow',
      input: {
        type: 'object',
        properties: { items: { type: 'array', items: { anyOf: kinds } }, text: { type: 'string', pattern: '^(a+)+$' } },
      },
    }),
  ])

  it.each<[string, JsonObject]>([
    ['a large union and many values', { items: Array.from({ length: 3_000 }, () => ({ kind: 'none' })) }],
    ['a slow regular expression', { text: `${'a'.repeat(60)}!` }],
  ])('arguments that take long to check are refused as invalid, and do not block for long: %s', (_what, args) => {
    const startedAt = performance.now()
    const { refused } = describeCall(slow, defaultLimits, { tool: 'slow', arguments: args }, 'code_execution', true)
    expect(performance.now() - startedAt).toBeLessThan(2_500)
    expect(refused).toMatchObject({ status: 'invalid_arguments', message: expect.stringContaining('took more than') })
  })
})
