import { expect, it } from 'vitest'
import { matchesPattern, unmatchedPattern } from './name-patterns.js'

it.each([
  ['get_issue', 'get_issue', true],
  ['get_issue', 'get_*', true],
  ['forget_issue', 'get_*', false],
  ['get_issue', '*issue', true],
  ['/repos/{owner}/{repo}/issues', '/repos/*/issues', true],
  ['/repos/{owner}/{repo}/issues/{id}', '/repos/*/issues', false],
  ['aba', 'ab*ba', false],
  ['get', '*', true],
  ['', '*', true],
])('the name %s and the pattern %s: %s', (name, pattern, matches) => {
  expect(matchesPattern(name, pattern)).toBe(matches)
})

it('a hostile pattern takes no time', () => {
  expect(matchesPattern('a'.repeat(50_000), `${'*a'.repeat(1_000)}*b`)).toBe(false)
})

it('a pattern without a name is found', () => {
  expect(unmatchedPattern(['get_*', 'push*'], ['get_issue'])).toBe('push*')
  expect(unmatchedPattern(['get_*'], ['get_issue'])).toBeUndefined()
})
