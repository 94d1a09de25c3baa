import { expect, test } from 'vitest'
import { displayValueOf } from './display-value.js'

test.each([
  'x',
  'x + 1  # a comment',
  'await get(id=7)',
  'f(a=1, b={"k": [1, 2]})',
  'rows[1:3]',
  '"a = b; c: d"',
  "f'{x}' == '='",
  'a == b != c <= d >= e',
  '[n\n for n in x]',
  'not x',
  'type(x)',
  'match',
  '(y := 5)',
])('the REPL shows the value of %j', (block) => {
  expect(displayValueOf(block)).toBe(`(lambda value: value is None or print(repr(value)))(\n${block}\n)`)
})

test.each([
  '',
  '# only a comment',
  'x = 1',
  'x += 1',
  'x <<= 1',
  'x: int',
  'a, b = b, a',
  '*a, b = c',
  'x; y',
  'import json',
  'del x',
  'del(x)',
  'raise ValueError(1)',
  'match x:\n  case 1: pass\n',
  'type X = int',
  'lambda: 1',
  'for n in x: n',
  'def f():\n  return 7\n',
  '@cache\ndef f(): pass\n',
  'x\ny',
  '  x',
  'x \\\n + 1',
  'f(',
  ')',
])('the REPL leaves %j unchanged', (block) => {
  expect(displayValueOf(block)).toBe(block)
})
