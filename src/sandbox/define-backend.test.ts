import { expect, test } from 'vitest'
import { defineBackend, isBackendDefinition } from './define-backend.js'

const create = () => Promise.reject(new Error('not here'))

test('a definition is what it was', () => {
  const definition = { name: 'my-cloud-2', create }
  expect(defineBackend(definition)).toBe(definition)
})

test.each([
  ['docker', 'the name docker is taken'],
  ['auto', 'the name auto is taken'],
  ['My cloud', 'lower-case'],
  ['', 'lower-case'],
])('a backend can not be called "%s"', (name, message) => {
  const refusal = { code: 'CONFIG_INVALID', message: expect.stringContaining(message) as string }
  expect(() => defineBackend({ name, create })).toThrow(expect.objectContaining(refusal) as Error)
})

test.each([[undefined], ['docker'], [{ name: 'mine' }], [{ create }]])('%j is no definition', (value) => {
  expect(isBackendDefinition(value)).toBe(false)
})
