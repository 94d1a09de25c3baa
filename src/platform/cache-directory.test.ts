import { expect, test } from 'vitest'
import { cacheDirectory } from './cache-directory.js'

test('the cache directory follows the conventions of the operating system', () => {
  const environment = { HOME: '/home/ada', LOCALAPPDATA: '/local' }
  expect(cacheDirectory(environment, 'linux')).toBe('/home/ada/.cache/durable-ptc')
  expect(cacheDirectory(environment, 'darwin')).toBe('/home/ada/Library/Caches/durable-ptc')
  expect(cacheDirectory(environment, 'win32')).toBe('/local/durable-ptc')
})

test('XDG_CACHE_HOME sets the cache directory on every platform; an empty value counts as unset', () => {
  expect(cacheDirectory({ HOME: '/home/ada', XDG_CACHE_HOME: '/caches' }, 'darwin')).toBe('/caches/durable-ptc')
  expect(cacheDirectory({ HOME: '/home/ada', XDG_CACHE_HOME: '' }, 'linux')).toBe('/home/ada/.cache/durable-ptc')
})
