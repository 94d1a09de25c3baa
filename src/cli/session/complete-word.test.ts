import { expect, test } from 'vitest'
import { completeWord, namesIn } from './complete-word.js'

test.each([
  ['x = await get_e', [['get_expenses'], 'get_e']],
  ['pri', [['print'], 'pri']],
  ['whil', [['while'], 'whil']],
  ['total.pri', [[], 'total.pri']],
  ['f(', [[], 'f(']],
  ['', [['    '], '']],
])('completes %j', (line, completion) => {
  expect(completeWord(line, ['get_expenses', ...namesIn('getter = 1')])).toEqual(completion)
})
