import { describe, expect, it } from 'vitest'
import { repl } from './index.js'

describe('isCompleteBlock of JavaScript', () => {
  it.each([
    'x = 1',
    'const x = 1;',
    'console.log("a:")',
    'const o = { a: [1, 2] }',
    "s = 'it\\'s'",
    'x = "unfinished',
    'if (x) y()',
    'if (x) {\n  y()\n}',
    'if (x) {\n} else {\n}',
    'do { x() } while (y)',
    '// only this (',
    'x = 1 // why {',
    'x = 1 /* why { */',
    '/* a\nb */',
    's = `a ${b + `${c}`} d`',
    's = `a\n${{ a: 1 }.a}\n`',
    's = "`"',
    'r = /[/"`(]/.test(x)',
    'r = x.replace(/\\/\\(/g, "")',
    'half = total / 2 / (n)',
    'x++',
    'x--',
    'x = )',
    'class A extends B {\n  #x = 1\n}',
    'function f() { return 1 }',
    'export const a = 1',
    'const f = async (x) => { await x }',
    'try { x() } catch { y() }',
    'x = {\n}\n',
    'let x: Array<string>\n',
    '',
  ])('the block %j is complete', (text) => {
    expect(repl.isCompleteBlock(text.split('\n'))).toBe(true)
  })

  it.each([
    'function f() {',
    'if (x) {\n  y()',
    'if (x)',
    'else if (x)',
    'for (const a of b)',
    'for await (const a of b)',
    'while (x)',
    'if (x) y()\nelse',
    'do',
    'try',
    'try { x() }',
    'class A',
    'class A extends',
    'function f(a)',
    'async function f(a)',
    'x = [',
    'x = [1,\n',
    'console.log("a",',
    's = `a',
    's = `a ${',
    's = `a ${b} `}`',
    's = `a ${{ a: 1 }',
    '/* a',
    'x = "a\\',
    'x =',
    'x = 1 +',
    'x = a &&',
    'x = a ?',
    'x = a ? b :',
    'f = (x) =>',
    'x = a.',
    'x = a /',
    'x = [  // ]',
    'x = "]" + [")"',
    'await',
    'return new',
  ])('the block %j is incomplete', (text) => {
    expect(repl.isCompleteBlock(text.split('\n'))).toBe(false)
  })

  it('reads a long block in linear time', () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `const name${index} = { a: \`\${${index}}\`, b: /x/ }`)
    const before = performance.now()
    expect(repl.isCompleteBlock(lines)).toBe(true)
    expect(performance.now() - before).toBeLessThan(10_000)
  })
})

it.each([
  ['else {', true],
  ['  .then(x)', true],
  ['?.y', true],
  ['catch (e) {', true],
  ['...rest', false],
  ['elsewhere = 1', false],
  ['console.log(1)', false],
  ['', false],
])('in JavaScript, %j continues with the block before an empty line: %s', (line, expected) => {
  expect(repl.continuesBlock(line)).toBe(expected)
})

it.each([
  'x',
  'x + 1 // a comment',
  'await get({ id: 7 })',
  'f({ a: 1, b: [1, 2] })',
  '"a = b; c, d"',
  'a == b',
  'a === b',
  'a !== b',
  'a <= b',
  'a >= b',
  '(a = 1)',
  '(x) => x + 1',
  '[1, 2].map((x) => x)',
  '`${a = 1}`',
  'import("node:fs")',
  'new Map()',
  '/a,b/.test(x)',
  'typeof x',
])('the REPL shows the value of %j in JavaScript', (block) => {
  const shown = `((value) => { if (value !== undefined) console.dir(value) })(\n${block}\n)`
  expect(repl.displayValueOf(block)).toBe(shown)
  if (!block.includes('//')) expect(repl.displayValueOf(`${block};`)).toBe(shown)
})

it.each([
  '',
  '// only a comment',
  'x = 1',
  'x += 1',
  'x <<= 1',
  'x ??= 1',
  'const x = 1',
  'let x',
  'a, b',
  'x; y',
  'import fs from "node:fs"',
  'export const a = 1',
  'throw new Error("x")',
  'function f() {}',
  'async function f() {}',
  'class A {}',
  'if (x) y',
  '{ a: 1 }',
  'x\ny',
  'f(',
  ')',
  'type X = string',
  'interface X {}',
  '@decorated class A {}',
])('the REPL leaves %j unchanged in JavaScript', (block) => {
  expect(repl.displayValueOf(block)).toBe(block)
})
