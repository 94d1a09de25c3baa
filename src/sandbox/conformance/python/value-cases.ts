import assert from 'node:assert/strict'
import { prints } from '../expectations.js'
import type { CaseDefinition } from '../conformance-context.js'

/** Numbers in arguments and results of tools. */
export const valueCases: readonly CaseDefinition[] = [
  {
    name: 'passes integers to tools exactly, or rejects them at the call',
    async run(context) {
      const harness = await context.harness()
      const source = `
import math
for value in (2**53 - 1, -(2**53), 1.5, 1e300, [1, {"n": 2**53 + 1}], 1234567890123456789, math.factorial(171)):
    try:
        print((await get(value))["a"])
    except TypeError as error:
        print(error)
`
      const { output, calls } = await harness.runCell(source)
      const refused = (integer: string) =>
        `get() takes JSON values only: the integer ${integer} is beyond 2**53 and would lose digits, pass it as a string\n`
      assert.equal(
        output,
        `9007199254740991\n-9007199254740992\n1.5\n1e+300\n${['9007199254740993', '1234567890123456789', 'of 310 digits'].map(refused).join('')}`,
      )
      assert.equal(calls.length, 4)
    },
  },
  {
    name: 'passes a number of a result to the next tool unchanged',
    async run(context) {
      const source = `
for value in (1e16, 1.7e18, -1e20, 2.0**60, 1e21, 1700000000123456000):
    value = (await get(value))["a"]
    print(repr(value), (await get(value))["a"] == value)
for value in (2**60, 10**21):  # JavaScript writes 1152921504606847000 and 1e21
    try:
        await get(value)
    except TypeError:
        print("refused")
`
      const { output } = await (await context.harness()).runCell(source)
      const integers = ['10000000000000000', '1700000000000000000', '-100000000000000000000', '1152921504606847000']
      const passed = [...integers, '1e+21', '1700000000123456000'].map((value) => `${value} True\n`)
      assert.equal(output, `${passed.join('')}refused\nrefused\n`)
    },
  },
  prints('receives a whole number of a result as an int', 'print(await get(1.0, -0.0))', "{'a': 1, 'b': 0}\n"),
]
