import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AttackEnvironment } from '../support/attack-environment.js'

const megabyte = 1024 * 1024

/** Attacks on the embedded sandbox. Attacks that try to escape are in test/slow/sandbox/wasm/jail.test.ts. */
describe('a hostile program in the embedded sandbox', () => {
  let attackEnv: AttackEnvironment
  beforeAll(async () => {
    attackEnv = await AttackEnvironment.start({
      backend: 'wasm',
      limits: { cellSeconds: 2, memoryBytes: 128 * megabyte },
    })
  })
  afterAll(() => attackEnv.close())

  it.each([
    ['a loop', 'while True: pass'],
    [
      'a loop that catches its interrupt',
      'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
    ],
    ['an endless computation of a number', 'x = 10 ** (10 ** 8)\nprint(len(str(x)))'],
  ])('D01 %s in the embedded sandbox ends at its timeout', async (_what, source) => {
    const { outcome, milliseconds } = await attackEnv.attack(source)
    expect(outcome.status).toBe('timed_out')
    expect(milliseconds).toBeLessThan(90_000)
  })

  it('D01, D03 amplifying expressions get only the memory of their child process, and Python raises an error', async () => {
    const sources = [
      '"a" * 10 ** 10',
      '1 << 10 ** 10',
      'eval("(" * 100_000 + ")" * 100_000)',
      '",".join(["x" * 1_000_000] * 5_000)',
      '("x" * 1_000_000).replace("x", "y" * 5_000)',
      're.sub("x", "y" * 5_000, "x" * 1_000_000)',
    ]
    const { outcome, memoryGrowthBytes } = await attackEnv.attack(
      `
import re
for source in ${JSON.stringify(sources)}:
    try: eval(source)
    except (MemoryError, OverflowError, SyntaxError) as error: print(type(error).__name__)
`,
      { cellSeconds: 60 },
    )
    expect(outcome).toMatchObject({ status: 'ok' })
    expect(outcome.output.trim().split('\n')).toHaveLength(sources.length)
    expect(memoryGrowthBytes).toBeLessThan(150 * megabyte)
  })

  it('D02 a list nested 200,000 deep ends the child process, not the worker', async () => {
    const source = 'import json\na = []\nfor _ in range(200_000): a = [a]\njson.dumps(a)'
    const { outcome } = await attackEnv.attack(source, { cellSeconds: 60 })
    expect(['code_error', 'lost']).toContain(outcome.status)
  })

  it('D04 endless output of the embedded sandbox is truncated', async () => {
    const { outcome, memoryGrowthBytes } = await attackEnv.attack('while True: print("x" * 1_000)')
    expect(outcome.status).toBe('timed_out')
    expect(outcome.output.length).toBeLessThan(21_000)
    expect(memoryGrowthBytes).toBeLessThan(150 * megabyte)
  })

  it('D07 environment, files and Python classes in the embedded sandbox do not reach the host', async () => {
    const answers = await attackEnv.probe(`
import os
def attempt(what):
    try: return what()
    except BaseException as error: return type(error).__name__
print(sorted(key for key in os.environ if "PTC" in key or "KEY" in key or "TOKEN" in key))
print(attempt(lambda: open(${JSON.stringify(attackEnv.flagFile)}).read()))
print(attempt(lambda: __import__("js").process))
print(attempt(lambda: __import__("subprocess").check_output(["id"])))
print([each.__name__ for each in object.__subclasses__() if each.__name__ in ("Popen", "socket")])
`)
    expect(answers[0]).toBe('[]')
    for (const answer of answers.slice(1, 4)) expect(answer).toMatch(/^[A-Za-z]*(Error|Exception)$/)
  })

  it('L1 a stack overflow inside a host function leaks no error object of the host realm', async () => {
    const [answer] = await attackEnv.probe(`
import js
from pyodide.ffi import JsException
def attempt(depth):
    value = js.Object.new()
    value.toJSON = js.performance.now
    for _ in range(depth):
        outer = js.Object.new()
        outer.a = value
        value = outer
    try: js.JSON.stringify(value)
    except JsException as error: return error.js_error
low, high = 1, 20_000
while high - low > 1:
    middle = (low + high) // 2
    if attempt(middle) is None: low = middle
    else: high = middle
errors = [error for error in map(attempt, range(low - 60, high + 3)) if error is not None]
print(len(errors) > 0, all(js.Object.getPrototypeOf(error) == js.RangeError.prototype for error in errors))
`)
    expect(answer).toBe('True True')
  })

  it('L1 a flood of the stderr descriptor ends at the file size limit', async () => {
    const { outcome, memoryGrowthBytes } = await attackEnv.attack('import os\nwhile True: os.write(2, b"x" * 60_000)', {
      cellSeconds: 60,
    })
    expect(outcome).toMatchObject({ status: 'code_error', error: expect.stringMatching(/OSError: .*File too large$/) })
    expect(memoryGrowthBytes).toBeLessThan(150 * megabyte)
  })
})
