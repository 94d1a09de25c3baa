import { describe, expect, it } from 'vitest'
import { continuesBlock, isCompleteBlock } from './block.js'

describe('isCompleteBlock', () => {
  it.each([
    'x = 1',
    'print("a:")',
    'x = {1: 2}',
    "s = 'it''s'",
    'x = "unfinished',
    'if x: print(1)',
    '# only this:',
    'x = 1  # why:',
    's = "#" + \'"\'',
    's = r"\\d"',
    'x = [\n1,\n]',
    '"""a\nb"""',
    'x = 1 + \\\n  2',
    'x = )',
    'x: int = 1',
    'f"{d["a"]}"',
    'd = {"a": lambda: 1}',
    'def f():\n  return 1\n',
    'if x:\n  y = """\n\n"""\n  ',
    '@cached\ndef f(): return 1\n',
    "'\\''",
  ])('the block %j is complete', (text) => {
    expect(isCompleteBlock(text.split('\n'))).toBe(true)
  })

  it.each([
    'def f():',
    'if x:  # why',
    'def f():\n  return 1',
    'for x in y:\n  if x:\n    z',
    '@cached',
    '@cached\ndef f(): return 1',
    'x = [',
    'x = [1,\n',
    'print("a",',
    '"""a',
    'x = """a\n\n"b"',
    "'''\\'''",
    'x = 1 + \\',
    'x = "a\\',
    'if (a and\n\n b):',
    'with a as b, \\\n  c as d:',
    'x = [  # ]',
    'x = "]" + [")"',
  ])('the block %j is incomplete', (text) => {
    expect(isCompleteBlock(text.split('\n'))).toBe(false)
  })
})

it.each([
  ['  return 1', true],
  ['\treturn 1', true],
  ['else:', true],
  ['except ValueError:', true],
  ['elsewhere = 1', false],
  ['print(1)', false],
  ['   ', false],
])('%j continues with the block before an empty line: %s', (line, expected) => {
  expect(continuesBlock(line)).toBe(expected)
})
