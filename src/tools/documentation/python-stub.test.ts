import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../common/json/json.js'
import { defineTool } from '../define-tool.js'
import { documentTools, renderStandaloneStub } from './document-tools.js'
import { PythonClasses } from '../../languages/python/classes.js'
import { renderStub } from '../../languages/python/stub.js'
import { isReservedName, pythonKeywords } from '../../languages/python/reserved-names.js'

const executed = promisify(execFile)

/** Output of a real Python interpreter; rejects with its traceback. */
async function python(program: string, ...args: string[]): Promise<unknown> {
  const { stdout } = await executed('python3', ['-c', program, ...args])
  return JSON.parse(stdout)
}

/** Runs stubs in a real interpreter, and returns the signature of each function. */
async function understood(
  stubs: readonly string[],
): Promise<Record<string, { doc: string; parameters: string[]; types: Record<string, string> }>> {
  const program = `
import ast, inspect, json, sys, types, typing
source = sys.argv[1]
ast.parse(source)
sys.modules['stubs'] = types.ModuleType('stubs')
space = sys.modules['stubs'].__dict__
exec('from __future__ import annotations\\nfrom typing import *\\n' + source, space)
functions = {n: f for n, f in space.items() if inspect.iscoroutinefunction(f)}
print(json.dumps({n: {
  'doc': inspect.getdoc(f),
  'parameters': list(inspect.signature(f).parameters),
  'types': {k: str(v) for k, v in typing.get_type_hints(f, space).items()},
} for n, f in functions.items()}))
for n, v in list(space.items()):
    if typing.is_typeddict(v): typing.get_type_hints(v, space)
`
  return (await python(program, stubs.join('\n\n'))) as Awaited<ReturnType<typeof understood>>
}

interface Changes {
  readonly name?: string
  readonly description?: string
  readonly input?: z.ZodObject
  readonly output?: z.ZodType
  readonly inputExamples?: readonly JsonObject[]
}

const tool = ({
  name = 'a_tool',
  description = 'Does it.',
  input = z.object({}),
  output = z.null(),
  inputExamples = [],
}: Changes) => defineTool({ name, description, input, output, inputExamples, effect: 'read', run: () => null })
const stubOf = (changes: Changes) => renderStub(tool(changes), new PythonClasses()).stub

const Expense = z.object({
  expense_id: z.string(),
  amount: z.number().min(0).describe('In US dollars.'),
  status: z.enum(['approved', 'pending', 'rejected']).describe('Only approved ones\ncount.'),
  notes: z.string().nullable(),
  receipt: z.object({ url: z.url() }).optional(),
})

describe('renderStub', () => {
  it('renders a tool as a Python function with types, documentation and examples', () => {
    const stub = stubOf({
      name: 'get_expenses',
      description: 'Expenses of one employee in one quarter.',
      input: z.object({
        employee_id: z.string().describe('Such as ENG001.'),
        quarter: z.enum(['Q1', 'Q2']),
        limit: z.int().min(1).max(100).default(50),
      }),
      output: z.array(Expense.meta({ title: 'Expense' })).describe('One line each, newest first.'),
      inputExamples: [{ employee_id: 'ENG001', quarter: 'Q1' }],
    })
    expect(stub).toBe(`class ExpenseReceipt(TypedDict):
    url: str  # format uri

class Expense(TypedDict):
    expense_id: str
    amount: float  # In US dollars.; at least 0
    status: Literal['approved', 'pending', 'rejected']  # Only approved ones count.
    notes: str | None
    receipt: NotRequired[ExpenseReceipt]

async def get_expenses(employee_id: str, quarter: Literal['Q1', 'Q2'], limit: int = 50) -> list[Expense]:
    """Expenses of one employee in one quarter.
    employee_id: Such as ENG001.
    limit: (1 to 100)
    Returns: One line each, newest first.
    Example: await get_expenses(employee_id='ENG001', quarter='Q1')
    """`)
  })

  it('a stub shows the first example of each shape', () => {
    const input = z.object({ id: z.string(), filters: z.array(z.object({ above: z.int() })).optional() })
    const inputExamples = [{ id: 'A1' }, { id: 'B2' }, { id: 'C3', filters: [{ above: 1 }] }, { id: 'D4', filters: [] }]
    expect(stubOf({ input, inputExamples }).match(/Example: .*/g)).toEqual([
      "Example: await a_tool(id='A1')",
      "Example: await a_tool(id='C3', filters=[{'above': 1}])",
      "Example: await a_tool(id='D4', filters=[])",
    ])
  })

  it('renders a signature without documentation, preceded by the classes that it needs', async () => {
    const source = tool({
      input: z.object({ id: z.string().describe('Such as A1.') }),
      output: z.object({ a: z.int() }),
    })
    const { signature } = renderStub(source, new PythonClasses())
    expect(signature).toBe('class AToolResult(TypedDict):\n    a: int\n\nasync def a_tool(id: str) -> AToolResult: ...')
    await understood([signature])
  })

  it('renders signatures that Python parses as intended', async () => {
    const { a_tool: stub } = await understood([
      stubOf({
        input: z.object({
          optional: z.string().optional(),
          nullable: z.int().nullable(),
          either: z.union([z.string(), z.array(z.boolean())]),
          record: z.record(z.string(), z.number()),
          keyed: z.partialRecord(z.enum(['a', 'b']), z.int()),
          pair: z.tuple([z.string(), z.int()]),
          many: z.tuple([z.string()], z.int()),
          one: z.literal(['x', 2, true, null]),
          free: z.unknown(),
          list_default: z.array(z.string()).default(['a', "it's"]),
        }),
        output: z.strictObject({ ok: z.boolean() }),
      }),
    ])
    expect(stub?.parameters).toEqual([
      'nullable',
      'either',
      'record',
      'keyed',
      'pair',
      'many',
      'one',
      'free',
      'optional',
      'list_default',
    ])
    expect(stub?.types).toEqual({
      optional: "<class 'str'>",
      nullable: 'int | None',
      either: 'str | list[bool]',
      record: 'dict[str, float]',
      keyed: "dict[typing.Literal['a', 'b'], int]",
      pair: 'tuple[str, int]',
      many: 'tuple[str, *tuple[int, ...]]',
      one: "typing.Literal['x', 2, True, None]",
      free: 'typing.Any',
      list_default: 'list[str]',
      return: expect.stringContaining('AToolResult'),
    })
  })

  it.each([
    ['quotes', 'Say """hello""" and "bye"'],
    ['a quote at its end', 'ends with "'],
    ['backslashes', 'C:\\new\\u0041\\N{DASH} and a last \\'],
    ['many lines', 'one\r\n\n  two\rthree\u2028four', 'one\n\n  two\nthree\nfour'],
    ['control characters', 'nul\u0000 bell\u0007 escape\u001B[31m', 'nul bell escape[31m'],
    ['half characters', 'lone \uD800 surrogate, whole 😀', 'lone \uFFFD surrogate, whole 😀'],
    ['an attack', '"""\nimport os\nos.abort()\n"""'],
  ])('a stub stays valid Python when the description contains %s', async (_what, description, shown = description) => {
    const stub = stubOf({
      description,
      input: z.object({ x: z.string().describe(description) }),
      output: z.object({ y: z.string().describe(description) }).describe(description),
      inputExamples: [{ x: description }],
    })
    const { a_tool: read } = await understood([stub])
    expect(read?.doc.slice(0, shown.length)).toBe(shown)
  })

  it('a stub takes one dict when a parameter name is not an identifier', async () => {
    const stub = stubOf({
      name: 'search',
      input: z.object({ class: z.string(), 'first-name': z.string().optional(), __private: z.int() }),
      inputExamples: [{ class: 'a', __private: 1 }],
    })
    expect(stub).toBe(`SearchArguments = TypedDict('SearchArguments', {
    'class': 'str',
    'first-name': 'NotRequired[str]',
    '__private': 'int',
})

async def search(arguments: SearchArguments) -> None:
    """Does it.
    Takes one dict, because a name in it is not a Python identifier.
    Example: await search({'class': 'a', '__private': 1})
    """`)
    expect((await understood([stub]))['search']?.parameters).toEqual(['arguments'])
  })

  it('a stub renders a map that contains itself, and alternatives that do', () => {
    const Map = { type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/Map' }] } }
    const Any = { type: 'object', anyOf: [{ $ref: '#/$defs/Any' }, { properties: { a: { type: 'string' } } }] }
    const tool = defineTool({
      name: 'set_labels',
      description: 'Sets labels.',
      input: {
        type: 'object',
        properties: { labels: { $ref: '#/$defs/Map' }, any: { $ref: '#/$defs/Any' } },
        $defs: { Map, Any },
      },
      output: {},
      effect: 'read',
      run: () => null,
    })
    expect(renderStandaloneStub(tool)).toContain('labels: dict[str, Any] = ...')
  })

  it('a stub renders a recursive type', async () => {
    const Node = z.object({
      value: z.int(),
      'odd-name': z.int().optional(),
      get children() {
        return z.array(Node)
      },
    })
    const json = z.json()
    const stub = stubOf({ name: 'get_tree', input: z.object({ root: Node, data: json }), output: Node })
    expect(stub).toContain("'children': 'list[GetTreeResult]',")
    await understood([stub])
    const Person = z
      .object({
        name: z.string(),
        get boss() {
          return Person.nullable()
        },
      })
      .meta({ id: 'StubPerson' })
    const people = stubOf({ name: 'get_people', output: z.array(Person) })
    expect(people).toContain('class StubPerson(TypedDict):\n    name: str\n    boss: StubPerson | None')
    await understood([people])
  })

  it('a stub names the members of a union by their tag, and merges an intersection', async () => {
    const shape = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('circle'), radius: z.number() }),
      z.object({ kind: z.literal('square'), side: z.number() }),
    ])
    const stub = stubOf({
      name: 'draw',
      input: z.object({ shape }),
      output: z.intersection(z.object({ a: z.int() }), z.object({ b: z.string() })),
    })
    expect(stub).toContain('shape: DrawShapeCircle | DrawShapeSquare')
    expect(stub).toContain('class DrawResult(TypedDict):\n    a: int\n    b: str')
    await understood([stub])
  })

  it('a stub breaks a long list of parameters into lines', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `parameter_number_${index}`)
    const stub = stubOf({ input: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) })
    expect(Math.max(...stub.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
    expect((await understood([stub]))['a_tool']?.parameters).toEqual(names)
  })

  it('rendering a stub is deterministic', () => {
    expect(stubOf({ output: z.array(Expense) })).toBe(stubOf({ output: z.array(Expense) }))
  })
})

describe('documentTools', () => {
  const titled = Expense.meta({ title: 'Expense' })

  it('stubs share equal classes, and rename different ones with the same name', async () => {
    const other = z.object({ id: z.int() }).meta({ title: 'Expense' })
    const documentation = documentTools([
      tool({ name: 'list_expenses', output: z.array(titled) }),
      tool({ name: 'get_expense', output: titled.nullable() }),
      tool({ name: 'get_other', output: other }),
    ])
    const stubs = documentation.map(({ stub }) => stub)
    expect(stubs.join('\n').match(/^class Expense\(/gm)).toHaveLength(1)
    expect(stubs[1]).toMatch(/^async def get_expense\(\) -> Expense \| None:/)
    expect(stubs[2]).toContain('-> Expense2:')
    expect(Object.keys(await understood(stubs))).toEqual(['list_expenses', 'get_expense', 'get_other'])
  })

  it("a stub does not rely on the stub of a tool that code can't call", () => {
    const direct = defineTool({
      name: 'first',
      description: 'x',
      input: z.object({}),
      output: titled,
      effect: 'read',
      allowedCallers: ['direct'],
      run: () => {
        throw new Error('unused')
      },
    })
    const documentation = documentTools([direct, tool({ name: 'second', output: titled })])
    expect(documentation[1]?.stub).toContain('class Expense(TypedDict)')
  })
})

describe('reserved names', () => {
  it('the reserved names include every keyword and every builtin of Python', async () => {
    const [keywords, builtins] = (await python(
      'import builtins, json, keyword; print(json.dumps([keyword.kwlist, [n for n in dir(builtins) if n[0] != "_"]]))',
    )) as [string[], string[]]
    expect(keywords.filter((name) => !pythonKeywords.has(name))).toEqual([])
    expect(builtins.filter((name) => !isReservedName(name))).toEqual([])
  })
})
