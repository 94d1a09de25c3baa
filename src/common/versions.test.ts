import { expect, test } from 'vitest'
import { isAtLeast } from './versions.js'

test.each([
  ['1.29.0', '1.29.0', true],
  ['1.31.2', '1.29.0', true],
  ['2.0.0', '1.29.0', true],
  ['1.28.9', '1.29.0', false],
  ['1.9.0', '1.29.0', false],
  ['1.26', '1.26.0', true],
])('version %s is at least %s: %s', (version, minimum, expected) => {
  expect(isAtLeast(version, minimum)).toBe(expected)
})
