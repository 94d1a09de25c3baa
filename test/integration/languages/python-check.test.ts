import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { runnerDirectory } from '../../../src/sandbox/runner-directory.js'

type Variables = Readonly<Record<string, number>>

/** Earlier cells or variables, and the cell that is checked. */
type Session = string | readonly (string | Variables)[]

const awaitGet = 'get() is called but never awaited: write `await get(...)`.'
const missing = "TypeError: get() is missing 'a'; it takes (a, b)"

/** Each finding of the last cell. */
const mistakes: Readonly<Record<string, readonly [session: Session, findings: readonly string[]]>> = {
  'an undefined name': ['x = 1\nprint(y)', ["line 2: NameError: name 'y' is not defined."]],
  'a name like another': [
    'total = 1\nprint(totl)',
    ["line 2: NameError: name 'totl' is not defined. Did you mean 'total'?"],
  ],
  'a name like a variable': [
    [{ employees: 1 }, 'print(employes)'],
    ["line 1: NameError: name 'employes' is not defined. Did you mean 'employees'?"],
  ],
  'a module that is not imported': [
    'print(re.sub("a", "b", "c"))',
    ["line 1: NameError: name 're' is not defined. Write `import re`."],
  ],
  'an unknown tool': ['await gett(1)', ["line 1: NameError: name 'gett' is not defined. Did you mean the tool get()?"]],
  'an unknown tool that is like none': [
    'await send_email(1)',
    ["line 1: NameError: name 'send_email' is not defined. The tools are: get, rent, store."],
  ],
  'an undefined name in a function that is called': [
    'import asyncio\nasync def main():\n    return undefined\nasyncio.run(main())',
    ["line 3: NameError: name 'undefined' is not defined."],
  ],
  'an undefined name under the test of the main module': [
    'def main():\n    undefined()\nif __name__ == "__main__":\n    main()',
    ["line 2: NameError: name 'undefined' is not defined. The tools are: get, rent, store."],
  ],
  'an undefined name in the operand that is always evaluated': [
    'a1 = undefined if undefined else 1\nprint(undefined or 1)\nb1 = [x for x in undefined]\n{**undefined}',
    [1, 2, 3, 4].map((line) => `line ${line}: NameError: name 'undefined' is not defined.`),
  ],
  'a missing argument': [
    'await get()\nawait get(b=1)\nawait get({"b": 1})',
    [1, 2, 3].map((line) => `line ${line}: ${missing}`),
  ],
  'an unknown argument': [
    'await get(1, bb=2)\nawait get({"a": 1, "B2": 1})',
    ["line 1: get() has no argument 'bb'; it takes (a, b).", "line 2: get() has no argument 'B2'; it takes (a, b)."],
  ],
  'too many arguments, or one twice': [
    'await get(1, 2, 3)\nawait get(1, a=2)',
    [
      'line 1: TypeError: get() takes 2 arguments but 3 were given',
      "line 2: TypeError: get() got multiple values for argument 'a'",
    ],
  ],
  'arguments of parallel calls': [
    'await asyncio.gather(get(), *[get(b=i) for i in range(3)])\nasyncio.run(get())',
    [`line 1: ${missing}`, `line 2: ${missing}`],
  ],
  'a call in the first round of a loop': [
    'for e in ["E1", "E2"]:\n    get(a=e)\n    if e: continue\n    await get()',
    [`line 2: ${awaitGet}`],
  ],
  'a statement without await': ['get(1)', [`line 1: ${awaitGet}`]],
  'an async function without await': [
    'async def main():\n    pass\nmain()',
    ['line 3: main() is called but never awaited: write `await main(...)`.'],
  ],
  'a call without await in an operand': [
    [
      'x = get(1)["x"]',
      'x = get(1).name',
      'x = get(1) + 1',
      'x = "a" + get(1)',
      'x = get(1) > 5',
      'x = get(1) is None',
      'x = -get(1)',
      'x = not get(1)',
      'x = len(get(1))',
      'print("x", get(1))',
      'x = f"{get(1)}"',
      'x, y = get(1)',
      'x = [*get(1)]',
      'x = dict(**get(1))',
      'x = {**get(1)}',
      'x = [y for y in get(1)]',
      'x = 1 if get(1) else 2',
      'for x in get(1): pass',
      'if get(1): pass',
      'while get(1): pass',
    ].join('\n'),
    [...Array.from({ length: 10 }, (_, index) => `line ${index + 1}: ${awaitGet}`), 'and more'],
  ],
  'a long text': ['x'.repeat(600), [`line 1: NameError: name '${'x'.repeat(483)}...`]],
}

/** Programs that can complete. */
const programs: Readonly<Record<string, Session>> = {
  'a name from an earlier cell': [{ x: 1 }, 'print(x)'],
  'names of later and conditional definitions':
    'def f():\n    return later\nif 0:\n    y = 1\nlater = 1\nprint(f(), y)',
  'a name that a function makes': 'def load():\n    global data\n    data = 1\nload()\nprint(data)',
  'a name that a function of an earlier cell makes': [
    'def load():\n    global data\n    data = 1',
    'load()\nprint(data)',
  ],
  'a name that code of an earlier cell may make': [
    'def load():\n    exec("data = 1", globals())',
    'load()\nprint(data)',
  ],
  'names made by exec, globals and star imports': [
    'exec("x = 1")\nprint(x)',
    'globals()["y"] = 1\nprint(y)',
    'from math import *\nprint(pi)',
  ].join('\n'),
  'globals made by an enumeration': 'import enum\nenum.global_enum(E)\nprint(RED)',
  'a name of a package': 'import sympy\nsympy.var("q")\nprint(q)',
  'names of all kinds of definitions': [
    'import os.path as p, json.decoder',
    'from math import pi as circle',
    'with open("/x") as file: pass',
    'for i, (j, *k) in []: pass',
    'try: pass\nexcept Exception as e: pass',
    'match 1:\n    case {"a": one, **rest}: pass\n    case [two, *more]: pass\n    case int() as three: pass',
    'class A(list): attribute = 1; other = attribute',
    '(walrus := 1)',
    'print(p, json, circle, file, i, j, k, rest, one, two, more, three, A, walrus, e)',
    'def f(a, /, b=1, *c, d=2, **g): return a, b, c, d, g',
    'print([(x, y) for x in [1] for y in [x]], (lambda z: z)(1), __name__)',
  ].join('\n'),
  'annotations are not evaluated':
    'from __future__ import annotations\nx: Undefined = 1\ndef f(a: Undefined) -> Undefined: pass',
  'code that is not executed': [
    'if False: undefined',
    'if 0:\n    get(1)\n    await get()',
    'while False: undefined',
    'for x in []: undefined',
    'def f(): undefined',
    'class A:\n    def m(self): undefined',
    'x = 1 or undefined',
    'x = undefined if 0 else 1',
    'x = lambda: undefined',
    'x = (undefined for y in [])',
    'x = 0 < 0 < undefined',
    'async def g():\n    get(1)\n    return undefined',
  ].join('\n'),
  'errors that are caught': [
    'try: undefined\nexcept NameError: pass',
    'try: await get()\nexcept TypeError: pass',
    'import contextlib\nwith contextlib.suppress(NameError): undefined',
  ].join('\n'),
  'code after the end of the cell': ['import sys\nsys.exit()\nundefined'],
  'code after a conditional end': ['import sys\nif input(): sys.exit()\nundefined'],
  'code after a raised end': ['raise SystemExit\nundefined'],
  'code after an early return': 'def f():\n    if input(): return\n    undefined\nf()',
  'code after break and continue':
    'for x in [1]:\n    if x: break\n    undefined\nwhile True:\n    if x: break\n    undefined',
  'a decorated function': 'def d(f): return print\n@d\ndef f(): undefined\nf()',
  'a generator': 'def f():\n    yield undefined\nf()',
  'a function that is defined twice': 'def f(): undefined\ndef f(): pass\nf()',
  'a tool hidden by a variable': [{ get: 1 }, 'get(1)\nget().x'],
  'a tool hidden in the cell': 'def get(x): return x\nget(1)\nprint(get(2))',
  'a tool hidden by a parameter': 'def f(get): get(1); return get(1).x\nf(int)',
  'a tool hidden by a comprehension': '[get(1).real for get in [int]]',
  'a tool hidden by an import': 'from json import loads as get\nget("1")',
  'a call that is awaited later': 't = get(1)\nawait t',
  'calls in tasks and lists': [
    'tasks = [get(i) for i in range(3)]\nawait asyncio.gather(*tasks)',
    't = asyncio.create_task(get(1))\nawait t',
    'async with asyncio.TaskGroup() as group: group.create_task(get(1))',
    'def later(): return get(1)\nawait later()',
    'await (get(1) if 1 else get(2))',
    'await asyncio.wait_for(get(1), 1)',
    'def run(c): return c\nawait run(get(1))',
    'c = get(1)\nc.close()',
    'get(1).close()',
    'alias = get\nawait alias()',
    'calls = {"a": get(1), **{}}\nawait calls["a"]',
  ].join('\n'),
  'operands that can use a coroutine': [
    'class Any:\n    def __add__(self, other): other.close()\n    __radd__ = __or__ = __eq__ = __add__',
    'Any() + get(1)\nget(1) + Any()\nAny() | get(1)\nAny() == get(1)',
    'x = "%s" % get(1)',
    'x = isinstance(get(1), object), id(get(1)), bool(get(1))',
  ].join('\n'),
  'arguments that are not known':
    'await get(*x)\nawait get(**x)\nawait get(x)\nawait get({**x})\nawait get({x: 1})\nx = 1',
  'arguments of names that are keywords': 'await rent({"from": 1})',
  'other arguments of an open tool': 'await store(key=1, other=2)\nawait store({"key": 1, "other": 2})',
  'a missing argument of a call that is not awaited': 't = get()\nt.close()',
  'errors that gather returns': 'print(await asyncio.gather(get(), return_exceptions=True))',
  'asyncio of the program': 'class asyncio:\n    run = print\nasyncio.run(get())',
  'asyncio that the program has changed': 'setattr(asyncio, "run", print)\nasyncio.run(get())',
  'a function of asyncio that the program has changed': 'asyncio.run = print\nasyncio.run(get())',
  'a print of the program': 'def print(c): c.close()\nprint(get(1))',
  'too much code': `${'x = 1\n'.repeat(20_000)}undefined`,
  'deeply nested code': `x = ${'-'.repeat(3_000)}1\nundefined`,
  'a name of a lone surrogate in a text': 'x = "\\ud800"',
}

const results = new Map<string, string>()

beforeAll(async () => {
  const cases = [
    ...Object.entries(mistakes).map(([name, [session]]) => [name, session] as const),
    ...Object.entries(programs),
  ]
  const script = fileURLToPath(new URL('../../support/python/check_cells.py', import.meta.url))
  const child = spawn('python3', [script, join(runnerDirectory, 'python')], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(cases.map(([, session]) => [session].flat())))
  const findings = JSON.parse(await text(child.stdout)) as readonly string[]
  for (const [index, [name]] of cases.entries()) results.set(name, findings[index] ?? 'no answer')
})

describe('the check of a Python cell finds', () => {
  it.each(Object.keys(mistakes))('%s', (name) => {
    const [title, ...findings] = (results.get(name) ?? '').split('\n')
    expect(findings).toEqual(mistakes[name]?.[1])
    expect(title).toBe('The code was checked before it ran, and nothing of it was executed:')
  })
})

describe('the check of a Python cell accepts', () => {
  it.each(Object.keys(programs))('%s', (name) => {
    expect(results.get(name)).toBe('')
  })
})
