import { expect, it } from 'vitest'
import { languageOfProgram } from './options.js'

it.each([
  ['report.py', undefined, 'python'],
  ['report.ts', undefined, 'typescript'],
  ['report.py', 'javascript', 'javascript'],
  ['report', undefined, undefined],
  ['-', undefined, undefined],
  ['-', 'javascript', 'javascript'],
  [undefined, undefined, undefined],
])('the program %s with --language %s is in %s', (script, option, expected) => {
  expect(languageOfProgram(script, option)).toBe(expected)
})
