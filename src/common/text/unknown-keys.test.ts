import { expect, test } from 'vitest'
import { describeUnknownKeys } from './unknown-keys.js'

const known = ['question', 'model', 'limits']

test('describeUnknownKeys accepts known keys', () => {
  expect(describeUnknownKeys({ model: 1, limits: undefined }, known)).toBeUndefined()
})

test.each([
  [{ modle: 1 }, 'unknown key "modle". Did you mean "model"?'],
  [{ Limit: 1 }, 'unknown key "Limit". Did you mean "limits"?'],
  [{ nope: 1 }, 'unknown key "nope"'],
  [{ nope: 1, qestion: 2 }, 'unknown key "nope"; unknown key "qestion". Did you mean "question"?'],
])('%j has unknown keys', (given, message) => {
  expect(describeUnknownKeys(given, known)).toBe(message)
})
