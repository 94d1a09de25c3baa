import { expect, test } from 'vitest'
import { defaultLanguage } from '../../languages/index.js'
import { completeWord, namesIn } from './complete-word.js'

test.each([
  ['x = await get_e', [['get_expenses'], 'get_e']],
  ['pri', [['print'], 'pri']],
  ['whil', [['while'], 'whil']],
  ['total.pri', [[], 'total.pri']],
  ['f(', [[], 'f(']],
  ['', [['    '], '']],
])('completes %j', (line, completion) => {
  const { names, indentation } = defaultLanguage.repl
  expect(completeWord(line, [...names, 'get_expenses', ...namesIn('getter = 1')], indentation)).toEqual(completion)
})
