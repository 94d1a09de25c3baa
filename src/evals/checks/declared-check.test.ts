import { expect, test } from 'vitest'
import type { ObservedRun } from '../samples/observed-run.js'
import { checkSchema } from '../tasks/task-schema.js'
import { declaredCheck } from './declared-check.js'
import { readVerdict } from './judge.js'

const run: ObservedRun = {
  workflowId: 'w',
  status: 'answered',
  answer: 'The total is 1,234.50 EUR, about 3.0 more than before.\n',
  calls: [
    {
      tool: 'pay',
      arguments: {},
      status: 'ok',
      caller: 'direct',
      turn: 1,
      cell: 0,
      resultPreview: '1',
      message: undefined,
    },
    {
      tool: 'pay',
      arguments: {},
      status: 'denied',
      caller: 'direct',
      turn: 1,
      cell: 0,
      resultPreview: undefined,
      message: 'no',
    },
  ],
  cells: [],
}

function verdictOf(check: unknown, changes: Partial<ObservedRun> = {}) {
  const verdict = declaredCheck(checkSchema.parse(check), { ...run, ...changes })
  return verdict?.type === 'failed' ? verdict.reason : verdict?.type
}

test.each([
  [{ contains: 'TOTAL' }, {}, 'passed'],
  [{ contains: ['total', 'missing'] }, {}, expect.stringContaining('does not contain "missing"')],
  [{ excludes: 'missing' }, {}, 'passed'],
  [{ excludes: ['eur'] }, {}, expect.stringContaining('contains "eur"')],
  [{ matches: String.raw`\d,\d{3}` }, {}, 'passed'],
  [{ matches: '^total' }, {}, expect.stringContaining('does not match ^total')],
  [{ equals: 42 }, { answer: ' 42\n' }, 'passed'],
  [{ equals: '42' }, { answer: ' 42\n' }, 'passed'],
  [{ equals: 42 }, { answer: '43' }, '"43" is not 42'],
  [{ equals: { a: [1, 2] } }, { answer: '```json\n{ "a": [1, 2] }\n```' }, 'passed'],
  [{ equals: { a: [2, 1] } }, { output: { a: [1, 2] } }, '{"a":[1,2]} is not {"a":[2,1]}'],
  [{ number: { value: 3 } }, {}, 'passed'],
  [{ number: { value: 1234.5 } }, { answer: 'It is 1,234.50' }, 'passed'],
  [{ number: { value: 0.3 } }, { output: 0.1 + 0.2 }, 'passed'],
  [{ number: { value: 10, tolerance: 0.5 } }, { answer: '10.6' }, '10.6 is not 10 (± 0.5)'],
  [{ number: { value: 10 } }, { answer: 'none' }, '"none" has no number'],
  [{ number: { value: 2 }, path: 'people.1.age' }, { output: { people: [{}, { age: 2 }] } }, 'passed'],
  [
    { number: { value: 2 }, path: 'people.7.age' },
    { output: { people: [] } },
    'there is no value at the answer.people.7.age',
  ],
  [{ includesJson: { a: { b: 1 } } }, { output: { a: { b: 1, c: 2 }, d: 3 } }, 'passed'],
  [{ includesJson: { a: { b: 1 } } }, { output: { a: { b: 2 } } }, 'a.b is 2, not 1'],
  [{ includesJson: [1, 2] }, { output: [1] }, 'the value is [1], not a list of 2'],
  [{ includesJson: { a: 1 } }, { answer: 'no JSON' }, 'there is no value at the answer'],
  [{ calls: { tool: 'pay' } }, {}, 'passed'],
  [{ calls: { tool: 'pay', status: 'ok', max: 1 } }, {}, 'passed'],
  [{ calls: { tool: 'pay', max: 1 } }, {}, '2 calls of pay, not at most 1'],
  [{ calls: { tool: 'refund', min: 1 } }, {}, '0 calls of refund, not at least 1'],
  [{ equals: 1, target: 'output' }, {}, 'there is no value at output'],
])('condition %j of a run with %j', (check, changes, expected) => {
  expect(verdictOf(check, changes)).toEqual(expected)
})

test('a pattern that takes too long for an answer ends with an error', () => {
  expect(() => verdictOf({ matches: '^(a+)+$' }, { answer: `${'a'.repeat(60)}!` })).toThrow('the check took more than')
})

test.each([
  ['answered', { verdict: 'pass', reason: 'good' }, 'passed'],
  ['answered', { verdict: 'fail', reason: 'bad' }, 'failed'],
  ['answered', { verdict: '7 of 10', reason: 'good' }, 'judge_failed'],
  ['answered', 'I give it a 9.', 'judge_failed'],
  ['answered', undefined, 'judge_failed'],
  ['invalid_answer', { verdict: 'pass', reason: 'good' }, 'judge_failed'],
])('a judge that ends with %s and %j is read as %s', (status, output, type) => {
  expect(readVerdict(status, output)).toMatchObject({ type })
})
