import { afterEach, expect, test, vi } from 'vitest'
import { defineBackend } from '../../sandbox/define-backend.js'
import { parseConfig } from '../../config/parse-config.js'
import { describedSandbox, mayHavePackages } from './task-queues.js'

afterEach(() => vi.unstubAllEnvs())

const own = defineBackend({
  name: 'mine',
  create: () => {
    throw new Error('not here')
  },
})

test.each([
  [{}, '', false],
  [{ image: 'mine:1' }, '', true],
  [{}, 'with-numpy:1', true],
  [{ image: 'mine:1' }, 'with-numpy:1', true],
  [{ backend: 'docker' }, 'with-numpy:1', true],
  [{ backend: 'wasm', image: 'mine:1' }, 'with-numpy:1', false],
  [{ backend: own }, '', true],
] as const)('a sandbox of %j with PTC_BASE_IMAGE=%s may have packages: %s', (sandbox, baseImage, expected) => {
  vi.stubEnv('PTC_BASE_IMAGE', baseImage)
  expect(mayHavePackages(parseConfig({ tools: [], sandbox }, 'test'))).toBe(expected)
})

test('the prompt describes the embedded sandbox where it is configured or preferred', () => {
  const isEmbedded = (sandbox: object, preferred?: 'docker' | 'wasm') =>
    describedSandbox(parseConfig({ tools: [], sandbox }, 'test'), preferred).isEmbedded
  expect(isEmbedded({ backend: 'wasm' })).toBe(true)
  expect(isEmbedded({})).toBe(false)
  expect(isEmbedded({}, 'wasm')).toBe(true)
  expect(isEmbedded({}, 'docker')).toBe(false)
})
