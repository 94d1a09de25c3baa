import { expect, test } from 'vitest'
import { isAtLeast, serverVersionIn } from './cli-version.js'

test('the server version is read from what the CLI says of itself', () => {
  expect(serverVersionIn('temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)')).toBe('1.31.2')
  expect(serverVersionIn('temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.0)\n')).toBe('1.29.1')
  expect(serverVersionIn('temporal 1.8.2')).toBeUndefined()
})

test.each([
  ['1.29.0', '1.29.0', true],
  ['1.31.2', '1.29.0', true],
  ['2.0.0', '1.29.0', true],
  ['1.28.9', '1.29.0', false],
  ['1.9.0', '1.29.0', false],
  ['1.26', '1.26.0', true],
])('%s is at least %s: %s', (version, wanted, expected) => {
  expect(isAtLeast(version, wanted)).toBe(expected)
})
