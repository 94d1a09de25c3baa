import { expect, it } from 'vitest'
import { cpuMs } from '../../test/support/cpu-time.js'
import { maxJsonValues, parseJson } from './parse-json.js'

it('parses what JSON.parse does, with quotes, brackets and commas in texts', () => {
  const value = { a: ['"', '\\', '\\"', '[{,', { b: null }], '","': -1.5e3 }
  expect(parseJson(JSON.stringify(value))).toEqual(value)
  expect(parseJson(' "a,b" ')).toBe('a,b')
  expect(() => parseJson('{"a": "')).toThrow('the body is not JSON')
  expect(() => parseJson(']]]')).toThrow('the body is not JSON')
})

const many = 10_000_000

it.each([
  ['lists', `[${'[],'.repeat(many)}[]]`, 'more than 250000 values'],
  ['numbers', `[${'1,'.repeat(many)}1]`, 'more than 250000 values'],
  ['unknown members', `{${'"a":1,'.repeat(4_000_000)}"b":1}`, 'more than 250000 values'],
  ['levels', '['.repeat(many), 'deeper than 500 levels'],
  ['quotes in a text', `{"a":"${'\\"'.repeat(many)}`, 'not JSON'],
  ['backslashes in a text', `{"a":"${'\\\\'.repeat(many)}`, 'not JSON'],
  ['spaces', ' '.repeat(3 * many), 'not JSON'],
])('refuses a body with many %s within a second', (_what, body, message) => {
  expect(cpuMs(() => expect(() => parseJson(body)).toThrow(message))).toBeLessThan(1_000)
})

it('takes as many values as it says', () => {
  const list = (values: number) => `[${'1,'.repeat(values - 2)}1]`
  expect(parseJson(list(maxJsonValues))).toHaveLength(maxJsonValues - 1)
  expect(() => parseJson(list(maxJsonValues + 1))).toThrow('more than')
})
