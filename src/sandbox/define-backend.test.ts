import { expect, test } from 'vitest'
import { defineBackend, isBackendDefinition } from './define-backend.js'

const create = () => Promise.reject(new Error('not here'))

test('defineBackend returns its argument', () => {
  const definition = { name: 'my-cloud-2', create }
  expect(defineBackend(definition)).toBe(definition)
})

test.each([
  ['docker', 'the name docker is reserved'],
  ['auto', 'the name auto is reserved'],
  ['My cloud', 'lower-case'],
  ['', 'lower-case'],
])('defineBackend rejects the name "%s"', (name, message) => {
  const refusal = { code: 'CONFIG_INVALID', message: expect.stringContaining(message) as string }
  expect(() => defineBackend({ name, create })).toThrow(expect.objectContaining(refusal) as Error)
})

test.each([[undefined], ['docker'], [{ name: 'mine' }], [{ create }]])('isBackendDefinition rejects %j', (value) => {
  expect(isBackendDefinition(value)).toBe(false)
})
