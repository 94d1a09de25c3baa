import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import {
  type FloatMask,
  floatMaskOf,
  isFloatMask,
  maxMaskCharacters,
  stringifyFloats,
} from '../../common/json/floats.js'
import type { JsonValue } from '../../common/json/json.js'

const texts: readonly (readonly [string, FloatMask | undefined])[] = [
  ['30', undefined],
  ['30.0', 1],
  ['-0.0', 1],
  ['1e2', 1],
  ['1.5', undefined],
  ['"30.0"', undefined],
  ['{"a":30.0,"b":30,"c":"1.0"}', { a: 1 }],
  ['[1.0,2.5,3.0]', { '*': 1 }],
  ['[1,2.0]', { 1: 1 }],
  ['[[1.0],[2.0]]', { '*': { '*': 1 } }],
  ['[{"a":1.0,"b":1},{"a":2.0,"b":2}]', { '*': { a: 1 } }],
  ['[{"a":1.0},{"a":2}]', { 0: { a: 1 } }],
  ['{"a\\"]":[],"x":{},"__proto__":1.0}', JSON.parse('{"__proto__":1}') as FloatMask],
  ['[null,true,false,{"*":1.0}]', { 3: { '*': 1 } }],
]

it.each(texts)(
  'the mask of floats of %s is %j, equals the mask of the runner, and restores the floats',
  async (text, mask) => {
    expect(floatMaskOf(text)).toEqual(mask)
    const source = `
import json, sys
sys.path.insert(0, ${JSON.stringify(new URL('../../../runner/python', import.meta.url).pathname)})
from ptc_runner.protocol.floats import float_mask, with_floats
value = json.loads(${JSON.stringify(text)})
mask = float_mask(value)
print(json.dumps([mask, repr(with_floats(json.loads(${JSON.stringify(JSON.stringify(JSON.parse(text)))}), mask)) == repr(value).replace("-0.0", "0.0")]))`
    const { stdout } = await promisify(execFile)('python3', ['-c', source])
    expect(JSON.parse(stdout)).toEqual([mask ?? null, true])
    const written = stringifyFloats(JSON.parse(text) as JsonValue, mask)
    expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))))
    expect(floatMaskOf(written)).toEqual(mask)
  },
)

it('a long mask of floats is dropped, and a mask ignores values that it does not match', () => {
  const mixed = `[${Array.from({ length: 2_000 }, (_, n) => (n % 2 ? '1.0' : '1')).join(',')}]`
  expect(floatMaskOf(mixed)).toBeUndefined()
  expect(JSON.stringify(floatMaskOf(`[${'1.0,'.repeat(20_000)}1.0]`)).length).toBeLessThan(maxMaskCharacters)
  expect(stringifyFloats({ a: 'x', b: [1] }, { a: 1, b: { 7: 1 }, c: 1, '*': 1 })).toBe('{"a":"x","b":[1]}')
  expect(stringifyFloats([1], { '*': { a: 1 } })).toBe('[1]')
  expect(stringifyFloats(1e21, 1)).toBe('1e+21')
})

it('a mask of floats from a sandbox is checked', () => {
  expect(isFloatMask({ a: 1, b: { '*': 1 } })).toBe(true)
  for (const wrong of [0, true, null, [1], { a: 2 }, { a: null }, 'x']) expect(isFloatMask(wrong)).toBe(false)
  let deep: unknown = 1
  for (let depth = 0; depth < 10_000; depth++) deep = { a: deep }
  expect(isFloatMask(deep)).toBe(false)
})

it('the mask of floats of a long text is made in time', () => {
  const text = JSON.stringify({ text: 'x"\\'.repeat(500_000), rows: Array.from({ length: 50_000 }, (_, n) => ({ n })) })
  expect(floatMaskOf(text.replace('"rows"', '"f":2.0,"rows"'))).toEqual({ f: 1 })
  const nested = `${'['.repeat(5_000)}1.0${']'.repeat(5_000)}`
  expect(() => floatMaskOf(nested)).not.toThrow()
  const mixed = `[${'1.0,1,'.repeat(200_000)}1.0]`
  const startedAt = performance.now()
  expect(floatMaskOf(`${'[1.0,'.repeat(190)}${mixed}${']'.repeat(190)}`)).toBeUndefined()
  expect(performance.now() - startedAt).toBeLessThan(3_000)
})

it('the runner leaves out the mask of floats for arguments that are nested too deeply', async () => {
  const source = `
import sys
sys.path.insert(0, ${JSON.stringify(new URL('../../../runner/python', import.meta.url).pathname)})
from ptc_runner.protocol.floats import float_mask
value = 1.0
for _ in range(100_000): value = [value]
print(float_mask(value))`
  const { stdout } = await promisify(execFile)('python3', ['-c', source])
  expect(stdout).toBe('None\n')
})
