import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../common/json/json.js'
import { languageOf } from '../../languages/index.js'
import { defineTool } from '../define-tool.js'
import { documentTools } from './document-tools.js'

const javascript = languageOf('javascript')
const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url))

/** The errors that TypeScript finds in stubs, followed by code. */
async function errorsIn(stubs: readonly string[], code = ''): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-stubs-'))
  const file = join(folder, 'stubs.ts')
  const helpers = 'type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false'
  try {
    await writeFile(file, [helpers, ...stubs, code, 'export {}'].join('\n\n'))
    const options = [
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--lib',
      'es2022',
      '--types',
      '',
      '--pretty',
      'false',
    ]
    return await new Promise((resolve) => {
      execFile(process.execPath, [tsc, ...options, file], { cwd: folder }, (_, stdout) => resolve(stdout))
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}

interface Changes {
  readonly name?: string
  readonly description?: string
  readonly input?: z.ZodObject | JsonObject
  readonly output?: z.ZodType | JsonObject
  readonly inputExamples?: readonly JsonObject[]
}

const tool = (changes: Changes) => {
  const basis = {
    name: 'a_tool',
    description: 'Does it.',
    input: z.object({}),
    output: z.null(),
    effect: 'read',
  } as const
  return defineTool({ ...basis, run: () => null, ...changes } as Parameters<typeof defineTool>[0])
}
const render = (changes: Changes) => javascript.documentTools()(tool(changes))
const stubOf = (changes: Changes) => render(changes).stub

const Expense = z.object({
  expense_id: z.string(),
  amount: z.number().min(0).describe('In US dollars.'),
  status: z.enum(['approved', 'pending', 'rejected']).describe('Only approved ones\ncount.'),
  notes: z.string().nullable(),
  receipt: z.object({ id: z.string() }).optional(),
})

describe('the TypeScript stub of a tool', () => {
  it('renders a tool as the declaration of a function with types, documentation and examples', async () => {
    const stub = stubOf({
      name: 'get_expenses',
      description: 'Expenses of one employee.\n\nIn one quarter.',
      input: z.object({
        employee_id: z.string().describe('Such as ENG001.'),
        quarter: z.enum(['Q1', 'Q2']),
        limit: z.int().min(1).max(100).default(50),
      }),
      output: z.array(Expense.meta({ title: 'Expense' })).describe('One line each, newest first.'),
      inputExamples: [
        { employee_id: 'ENG001', quarter: 'Q1' },
        { employee_id: 'ENG002', quarter: 'Q2' },
      ],
    })
    expect(stub).toBe(`interface Expense {
  expense_id: string
  /** In US dollars.; at least 0 */
  amount: number
  /** Only approved ones count. */
  status: "approved" | "pending" | "rejected"
  notes: string | null
  receipt?: { id: string }
}

/**
 * Expenses of one employee.
 *
 * In one quarter.
 * Returns: One line each, newest first.
 * Example: await get_expenses({ employee_id: "ENG001", quarter: "Q1" })
 */
declare function get_expenses(input: {
  /** Such as ENG001. */
  employee_id: string
  quarter: "Q1" | "Q2"
  /** integer; 1 to 100; default 50 */
  limit?: number
}): Promise<Expense[]>`)
    expect(
      await errorsIn(
        [stub],
        `const [first] = await get_expenses({ employee_id: 'ENG001', quarter: 'Q1' })
         const same: Same<typeof first.status, 'approved' | 'pending' | 'rejected'> = true`,
      ),
    ).toBe('')
    expect(await errorsIn([stub], "await get_expenses({ employee_id: 1, quarter: 'Q3' })")).toMatch(
      /TS2322.*\n.*TS2322/,
    )
  })

  it('a signature has no documentation of the function, and the types that it needs', () => {
    const { signature } = render({
      input: z.object({ id: z.string().describe('Such as A1.') }),
      output: z.object({ total: z.int() }).meta({ title: 'Total' }),
    })
    expect(signature).toBe(`interface Total {
  /** integer */
  total: number
}

declare function a_tool(input: { id: string }): Promise<Total>`)
  })

  it('a tool without arguments is a function without parameters', () => {
    expect(render({}).signature).toBe('declare function a_tool(): Promise<null>')
    expect(render({ input: { type: 'object', additionalProperties: {} }, output: {} }).signature).toBe(
      'declare function a_tool(input: { [key: string]: unknown }): Promise<unknown>',
    )
  })

  it('renders each kind of schema as a type that TypeScript reads as intended', async () => {
    const stub = stubOf({
      input: z.object({
        nullable: z.int().nullable(),
        either: z.union([z.string(), z.array(z.boolean())]),
        list: z.array(z.union([z.string(), z.int()])),
        record: z.record(z.string(), z.number()),
        keyed: z.partialRecord(z.enum(['a', 'b']), z.int()),
        pair: z.tuple([z.string(), z.int()]),
        many: z.tuple([z.string()], z.int()),
        one: z.literal(['x', 2, true, null]),
        free: z.unknown(),
        'odd key': z.string().optional(),
        shape: z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('circle'), r: z.number() }),
          z.object({ kind: z.literal('square'), a: z.number() }),
        ]),
        both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string().optional() })),
      }),
      output: z.strictObject({ ok: z.boolean() }),
    })
    const expected = `{
      nullable: number | null
      either: string | boolean[]
      list: (string | number)[]
      record: { [key: string]: number }
      keyed: { a?: number; b?: number }
      pair: [string, number]
      many: [string, ...number[]]
      one: 'x' | 2 | true | null
      free: unknown
      'odd key'?: string
      shape: { kind: 'circle'; r: number } | { kind: 'square'; a: number }
      both: { a: string; b?: string }
    }`
    const checks = `type Input = Parameters<typeof a_tool>[0]
      type Expected = ${expected}
      const same: { [Key in keyof Expected]: Same<Input[Key], Expected[Key]> } = {} as { [Key in keyof Expected]: true }
      const result: Promise<{ ok: boolean }> = a_tool({} as Input)`
    expect(await errorsIn([stub], checks)).toBe('')
  })

  it('renders JSON Schema that zod does not write: nullable objects, alternatives of required members, all of several', () => {
    const person = { type: ['object', 'null'], properties: { name: { type: 'string' } }, required: ['name'] }
    const signature = (schema: JsonObject) =>
      render({ output: schema })
        .signature.replace(/^.*Promise</s, '')
        .slice(0, -1)
    expect(signature(person)).toBe('{ name: string } | null')
    expect(
      signature({ type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    ).toBe('{ a?: unknown; b?: unknown }')
    expect(
      signature({
        type: 'object',
        allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'number' } } }],
        oneOf: [{ properties: { c: { const: 1 } } }, { properties: { d: { const: 2 } } }],
      }),
    ).toBe('({ c?: 1 } | { d?: 2 }) & { a?: string } & { b?: number }')
    expect(signature({ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } })).toBe(
      '(string | null)[]',
    )
    expect(signature({ type: 'array', items: { enum: ['a | b'] } })).toBe('"a | b"[]')
    expect(signature({ type: 'object', properties: {}, additionalProperties: false })).toBe('{}')
    expect(signature({ anyOf: [true, { type: 'string' }] })).toBe('unknown')
    expect(signature({ not: {} })).toBe('never')
    expect(signature({ enum: [{ a: 1 }, 2] })).toBe('unknown')
  })

  it('declares types that contain themselves, and those that a schema names', async () => {
    const Node = z.object({
      value: z.number(),
      get children() {
        return z.array(Node)
      },
    })
    const Person = z
      .object({
        name: z.string(),
        get boss() {
          return Person.nullable()
        },
      })
      .meta({ id: 'TypeScriptPerson' })
    const document = javascript.documentTools()
    const stubs = [
      tool({ name: 'get_tree', input: z.object({ root: Node, data: z.json() }), output: Node }),
      tool({ name: 'get_people', output: z.array(Person) }),
      tool({ name: 'get_boss', output: Person }),
    ].map((each) => document(each).stub)
    expect(stubs[0]).toContain('interface GetTreeResult { value: number; children: GetTreeResult[] }')
    expect(stubs[1]).toContain('interface TypeScriptPerson { name: string; boss: TypeScriptPerson | null }')
    expect(stubs[2]).toBe('/** Does it. */\ndeclare function get_boss(): Promise<TypeScriptPerson>')
    expect(stubs[0]).toMatch(/^type (\w+) = .*\| \1\[\] \| \{ \[key: string\]: \1 \}$/m)
    expect(await errorsIn(stubs)).toBe('')
  })

  it('a type that is only itself, and types that are deeper than a model reads, are unknown', () => {
    const itself = { $ref: '#/$defs/A', $defs: { A: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'string' }] } } }
    expect(render({ output: itself }).signature).toContain('type A = unknown')
    let deep: JsonObject = { type: 'string' }
    for (let level = 0; level < 100; level += 1) deep = { type: 'array', items: deep }
    expect(render({ output: deep }).signature).toMatch(/Promise<unknown(?:\[\])+>$/)
    const many = { enum: Array.from({ length: 1_000 }, (_, index) => `value-${index}`) }
    const { signature } = render({ output: many })
    expect(signature).toContain('"value-199" | string>')
    expect(signature).not.toContain('value-200')
  })

  it.each([
    ['the end of a comment', 'ends */ export const x = 1 /*'],
    ['backslashes', 'C:\\new\\u0041 and a last \\'],
    ['many lines', 'one\r\n\n  two\rthree\u2028four', ' * one\n *\n *   two\n * three\n * four'],
    ['control characters', 'nul\u0000 bell\u0007 escape\u001B[31m', '/** nul bell escape[31m */'],
    ['half characters', 'lone \uD800 surrogate, whole 😀', '/** lone \uFFFD surrogate, whole 😀 */'],
    ['quotes and templates', '`${process.exit()}` "quoted" \'too\''],
  ])('a stub stays valid TypeScript when the description contains %s', async (_what, description, shown = '') => {
    const stub = stubOf({
      description,
      input: z.object({ x: z.literal(['a', description]).describe(description) }),
      output: z.object({ [description]: z.string().describe(description) }),
      inputExamples: [{ x: description }],
    })
    expect(stub).toContain(shown)
    expect(await errorsIn([stub], "const names: Same<keyof typeof globalThis & 'x', never> = true")).toBe('')
  })

  it('stubs share equal types, and rename different ones with the same name or the name of a type of the language', () => {
    const titled = Expense.meta({ title: 'Expense' })
    const other = z.object({ id: z.string() }).meta({ title: 'Expense' })
    const date = z.object({ year: z.string() }).meta({ title: 'Date' })
    const documentation = documentTools(
      [
        tool({ name: 'list_expenses', output: z.array(titled) }),
        tool({ name: 'get_expense', output: titled.nullable() }),
        tool({ name: 'get_other', output: other }),
        tool({ name: 'get_date', output: date }),
      ],
      undefined,
      javascript,
    )
    const stubs = documentation.map(({ stub }) => stub)
    expect(stubs.join('\n').match(/^interface Expense /gm)).toHaveLength(1)
    expect(stubs[1]).toMatch(/\): Promise<Expense \| null>$/)
    expect(stubs[2]).toMatch(/\): Promise<Expense2>$/)
    expect(stubs[3]).toMatch(/\): Promise<Date2>$/)
  })

  it('a stub is taken apart into its types and its function', () => {
    const stub = stubOf({ input: z.object({ at: z.json() }), output: Expense.meta({ title: 'Expense' }) })
    const { types, body } = javascript.splitStub(stub)
    expect(types.map(([name]) => name)).toEqual(['AToolInputAt', 'Expense'])
    expect(types[1]?.[1]).toMatch(/^interface Expense \{\n[^]*\n\}$/)
    expect(body).toMatch(/^\/\*\* Does it\. \*\/\ndeclare function a_tool\(/)
    expect([...types.map(([, text]) => text), body].join('\n\n')).toBe(stub)
  })

  it('rendering a stub is deterministic', () => {
    expect(stubOf({ output: z.array(Expense) })).toBe(stubOf({ output: z.array(Expense) }))
  })
})

describe('reserved names of JavaScript', () => {
  it('the reserved names include every global of Node with a name that a tool may have', () => {
    const names = Object.getOwnPropertyNames(globalThis).filter((name) => /^[a-z]\w*$/.test(name))
    // Node's own, and not those that the test runner adds.
    const own = names.filter(
      (name) => !/^(?:vi|vitest|describe|it|test|expect|suite|before|after|on|assert|chai)/.test(name),
    )
    expect(own.filter((name) => !javascript.isReservedName(name))).toEqual([])
    for (const name of [
      'Array',
      'TypeError',
      'Uint8Array',
      'ReadableStream',
      'ToolError',
      'await',
      'enum',
      'input_data',
    ])
      expect(javascript.isReservedName(name), name).toBe(true)
    for (const name of ['list', 'filter', 'id', 'print', 'get_expenses', 'Expense', 'is', 'not'])
      expect(javascript.isReservedName(name), name).toBe(false)
  })
})
