import { expect, it } from 'vitest'
import { tool } from '../../../test/support/tools.js'
import { createRegistry } from '../registry.js'
import { configuredTools } from './tool-source.js'

const [first, second, third] = ['first', 'second', 'third'].map((name) => tool(name, () => null))

it('a configuration has its tools, and those of the sources among them, in order', () => {
  const tools = [first, { list: () => [second] }, third]
  expect(configuredTools(tools).list()).toEqual([first, second, third])
})

it('a configuration refuses two tools of one name, also from a source', () => {
  const tools = [first, { list: () => [first] }]
  expect(() => createRegistry(configuredTools(tools).list())).toThrow('two tools are named first')
})
