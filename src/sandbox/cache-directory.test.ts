import { expect, test } from 'vitest'
import { cacheDirectory } from './cache-directory.js'

test('follows the conventions of the operating system', () => {
  const environment = { HOME: '/home/ada', LOCALAPPDATA: '/local' }
  expect(cacheDirectory(environment, 'linux')).toBe('/home/ada/.cache/durable-ptc')
  expect(cacheDirectory(environment, 'darwin')).toBe('/home/ada/Library/Caches/durable-ptc')
  expect(cacheDirectory(environment, 'win32')).toBe('/local/durable-ptc')
})

test('prefers XDG_CACHE_HOME on every platform; an empty value counts as unset', () => {
  expect(cacheDirectory({ HOME: '/home/ada', XDG_CACHE_HOME: '/caches' }, 'darwin')).toBe('/caches/durable-ptc')
  expect(cacheDirectory({ HOME: '/home/ada', XDG_CACHE_HOME: '' }, 'linux')).toBe('/home/ada/.cache/durable-ptc')
})
