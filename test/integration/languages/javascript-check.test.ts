import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runnerDirectory } from '../../../src/sandbox/runner-directory.js'
import { JavaScriptRunner } from '../../support/sandbox/javascript-runner.js'

interface CellCheck {
  setTools(signatures: readonly object[]): void
  check(program: unknown, source: string, isEnabled: boolean): void
}

const tools = [
  { name: 'get', parameters: ['a', 'b'], required: ['a'], documentation: '' },
  { name: 'list', parameters: [], required: [], documentation: '' },
  { name: 'store', parameters: ['key'], required: ['key'], open: true, documentation: '' },
]

const require = createRequire(join(runnerDirectory, 'javascript', 'session.js'))
const { CellCheck: Check } = require('./check/cell-check.js') as {
  readonly CellCheck: new (program: object) => CellCheck
}
const { parseProgram } = require('./cells/parse.js') as { readonly parseProgram: (source: string) => unknown }
const { install } = require('./program/tools.js') as {
  readonly install: (session: object, signatures: readonly object[], errorClasses: object) => void
}
const program = {
  ...(require('./program/globals.js') as object),
  ...(require('./check/node-modules.js') as object),
}

// The tools are globals of this process.
install({}, tools, {})
Object.assign(globalThis, { input_data: 1 })
afterAll(() => {
  for (const name of [...tools.map((each) => each.name), 'input_data']) Reflect.deleteProperty(globalThis, name)
})

/** Returns the findings in the last cell. */
function findingsIn(cells: readonly string[], variables: readonly string[] = []): readonly string[] {
  const check = new Check({ ...program, lexicalNames: () => variables })
  check.setTools(tools)
  let findings: readonly string[] = []
  for (const source of cells) {
    try {
      check.check(parseProgram(source), source, true)
    } catch (error) {
      const [title, ...lines] = (error as Error).message.split('\n')
      expect(title).toBe('The code was checked before it ran, and nothing of it was executed:')
      findings = lines
    }
  }
  return findings
}

const awaitGet = 'get() is called but not awaited: write `await get(...)`.'
const missing = 'TypeError: get() is missing "a"; it takes { a, b? }'
const onLines = (count: number, text: string) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}: ${text}`)

/** Each finding of a cell. */
const mistakes: Readonly<Record<string, readonly [source: string, findings: readonly string[]]>> = {
  'an undefined name': [
    'const x = 1\nconsole.log(unknownName)',
    ['line 2: ReferenceError: unknownName is not defined.'],
  ],
  'a name like another': [
    'const total = 1\nconsole.log(totl)',
    ['line 2: ReferenceError: totl is not defined. Did you mean total?'],
  ],
  'a module that is not imported': [
    "readFileSync('x')\npath.join('a')",
    [
      'line 1: ReferenceError: readFileSync is not defined.',
      "line 2: ReferenceError: path is not defined. Write `import path from 'node:path'`.",
    ],
  ],
  'an unknown tool': [
    'await gett({ a: 1 })',
    ['line 1: ReferenceError: gett is not defined. Did you mean the tool get()?'],
  ],
  'an undefined name in functions that are called': [
    'async function main() { unknown1 }\nawait main()\nconst f = () => unknown2\nf()\nawait (async () => { unknown3 })()',
    [
      'line 1: ReferenceError: unknown1 is not defined.',
      'line 3: ReferenceError: unknown2 is not defined.',
      'line 5: ReferenceError: unknown3 is not defined.',
    ],
  ],
  'an undefined name in the operand that is always evaluated': [
    'x = unknown ? unknown : 1\nx = unknown || 1\nx = unknown?.a(unknown)\nx = [...unknown]\nx = `${unknown}`',
    onLines(5, 'ReferenceError: unknown is not defined.'),
  ],
  'a missing argument': [
    'await get()\nawait get({ b: 1 })\nget({})\nawait get({ a: undefined })\nawait Promise.all([get({})])\nawait Promise.all(["x"].map((b) => get({ b })))',
    onLines(6, missing),
  ],
  'an unknown argument': [
    'await get({ a: 1, B: "x" })\nawait get({ A: x })\nlet x = 1',
    [
      'line 1: get() has no argument "B"; it takes { a, b? }. Did you mean b?',
      `line 2: ${missing}`,
      'line 2: get() has no argument "A"; it takes { a, b? }. Did you mean a?',
    ],
  ],
  'arguments that are no object': [
    'await get(1)\nawait get("x", {})',
    onLines(2, 'TypeError: get() takes one object with its arguments: { a, b? }'),
  ],
  'a call in the first round of a loop': [
    'for (const a of ["x"]) { await get({ A: "x" }) }\nfor (let i = 0; i < 3; i++) { get({ a: i }).x }\nwhile (true) { get({ a: 1 }).x; break }',
    [
      `line 1: ${missing}`,
      'line 1: get() has no argument "A"; it takes { a, b? }. Did you mean a?',
      `line 2: ${awaitGet}`,
      `line 3: ${awaitGet}`,
    ],
  ],
  'a call without await in an operand': [
    [
      'x = get({ a: 1 }).total',
      'x = get({ a: 1 })[0]',
      'x = get({ a: 1 }) + 1',
      'x = get({ a: 1 }) === 1',
      'x = `${get({ a: 1 })}`',
      'x = [...get({ a: 1 })]',
      'x = { ...get({ a: 1 }) }',
      'for (const y of get({ a: 1 })) ;',
      'var { z } = get({ a: 1 })',
      'if (!get({ a: 1 })) ;',
      'console.log(get({ a: 1 }))',
      'x = JSON.stringify(get({ a: 1 }))',
    ].join('\n'),
    [...onLines(10, awaitGet), 'and more'],
  ],
  'a long text': ['x'.repeat(600), [`line 1: ReferenceError: ${'x'.repeat(484)}...`]],
}

/** Programs that can complete, or end without an error of the check. */
const programs: Readonly<Record<string, string | readonly string[]>> = {
  'calls that are not awaited at once': [
    'get({ a: 1 })',
    'void get({ a: 1 })',
    'const t = get({ a: 1 }); await t',
    'get({ a: 1 }).then((x) => x).catch(() => 0).finally(() => 0)',
    'get({}).catch(() => 0)',
    'await Promise.all([1, 2].map((a) => get({ a })))',
    'await Promise.allSettled([get({})])',
    'await Promise.race([get({ a: 1 }), get({ a: 2 })])',
    'const all = [get({ a: 1 })]; for await (const x of all) ;',
    'const f = () => get({ a: 1 }); await f()',
    'x = typeof get({ a: 1 }), get({ a: 1 }) instanceof Promise, (get({ a: 1 }))[Symbol.toStringTag]',
    'x = get({ a: 1 }) ?? 1',
    'const { then } = get({ a: 1 })',
  ].join('\n'),
  'names of all kinds of declarations': [
    'import d, { join as j } from "node:path"; import * as n from "node:fs"',
    'const { a, b: [c, ...e], ...g } = { b: [] }, [h = 1] = []',
    'for (const k of []) ; for (l in {}) ; try { throw 1 } catch ({ m }) { m }',
    'label: for (;;) { break label }',
    'class A extends Object { #p = 1; static s = 2; m() { return this.#p + arguments.length } }',
    'function f(o, { p }, ...q) { return [o, p, q, new.target] }',
    'export const r = 1; export default class B {}',
    'implicit = 1; later(); function later() { return late }; var late',
    'console.log(d, j, n, a, c, e, g, h, l, A, f, r, B, implicit, require, process, input_data, undefined, NaN)',
    'typeof unknown1; x = { unknown2: 1 }.unknown2; import.meta.url',
  ].join('\n'),
  'code that is not executed': [
    'if (false) { unknown; await get({}) }',
    'for (const x of []) unknown',
    'for (let i = 0; i < 0; i++) unknown',
    'while (false) unknown',
    'x = true || unknown; x = true ? 1 : unknown; x = null?.a(unknown); x ??= unknown',
    'const f = () => unknown, g = async () => { await get({}) }; function h(a = unknown) { unknown }',
    'switch (1) { case 2: unknown }',
    'class A { m() { unknown } }',
    'function* i() { unknown } i()',
    'const { y = unknown } = { y: 1 }',
  ].join('\n'),
  'errors that are caught':
    'try { unknown } catch {}\nasync function f() { unknown }\nf().catch(() => 0)\nawait f().catch(() => 0)',
  'code after an early end': [
    'function f() { if (input_data) return; unknown } f()',
    'for (const x of [1]) { if (x) continue; unknown }',
    'if (input_data) process.exit()',
    'unknown',
  ].join('\n'),
  'a function that is declared twice': 'function f() { unknown }\nfunction f() {}\nf()',
  'a tool hidden in the cell': 'const get = (x) => x\nget(1).x; get(2) + 1',
  'a tool hidden by a parameter': 'const f = (get) => get(1).x\nf((x) => x)',
  'arguments that are not known':
    'let x = {}\nawait get(x); await get(...[x]); await get({ ...x }); await get({ [x]: 1 }); await get({ a: 1, c: x.c }); await get({ __proto__: x })',
  'other arguments of an open tool': 'await store({ key: 1, other: 2 })',
  'no arguments': 'await list(); await list({})',
  'a name that eval makes': 'eval("var x1 = 1")\nx1',
  'a name that is a member of the global object': 'globalThis.x2 = 1\nx2',
  'a name that a sloppy function makes': 'function f() { this.x3 = 1 }\nf()\nx3',
  'a name that a function of an earlier cell makes': ['function f() { x4 = 1 }', 'f()\nconsole.log(x4)'],
  'a name that a package makes': 'import "some-package"\nconsole.log(x5)',
  'a console of the program': 'console.log = (promise) => promise\nconsole.log(get({ a: 1 }))',
  'a console that an earlier cell has changed': ['Object.assign(console, {})', 'console.log(get({ a: 1 }))'],
  'a name of another cell that was not checked': [`// ${'x'.repeat(70_000)}`, 'unknown'],
}

describe('the check of a JavaScript cell finds', () => {
  it.each(Object.entries(mistakes))('%s', (_, [source, findings]) => {
    expect(findingsIn([source])).toEqual(findings)
  })

  it('no name that is a variable of the session', () => {
    expect(findingsIn(['console.log(counter)'], ['counter'])).toEqual([])
    expect(findingsIn(['console.log(countr)'], ['counter'])).toEqual([
      'line 1: ReferenceError: countr is not defined. Did you mean counter?',
    ])
    expect(findingsIn(['get(1).x'], ['get'])).toEqual([])
  })
})

describe('the check of a JavaScript cell accepts', () => {
  it.each(Object.entries(programs))('%s', (_, cells) => {
    expect(findingsIn([cells].flat())).toEqual([])
  })
})

describe('a JavaScript cell with a mistake', () => {
  it('has no effect: no call, no output, no variable', async () => {
    const runner = await JavaScriptRunner.start(['get'], { required: ['id'] })
    const { output, end } = await runner.run('let x = 1\nconsole.log(x)\nawait get({ id: 1 })\nawait get({ ID: 2 })')
    expect(end).toMatchObject({
      type: 'failed',
      kind: 'code_error',
      error: expect.stringContaining('line 4: TypeError: get() is missing "id"; it takes { id }'),
    })
    expect(runner.results).toHaveLength(1)
    expect(output).toBe('')
    expect(await runner.run('console.log(typeof x)')).toMatchObject({ output: 'undefined\n' })
    // Names of earlier cells are known, and the lines are those of TypeScript.
    await runner.run('const counter = 1')
    const typed = await runner.run('const n: number = counter\nconsole.log(n, countr)')
    expect(typed.end).toMatchObject({ type: 'failed' })
    expect(await runner.run('console.log(counter)')).toMatchObject({ output: '1\n', end: { type: 'completed' } })
  })
})
