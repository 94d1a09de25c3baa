import { expect, it } from 'vitest'
import { z } from 'zod'
import { documentManyTools } from '../../../test/support/many-tools.js'
import { languageOf } from '../../languages/index.js'
import { defineTool } from '../define-tool.js'
import { createRegistry } from '../registry.js'
import { findTools, renderFoundStubs } from './search-tools.js'

const tools = documentManyTools()
const namesFor = (query: string) => findTools(tools, query).found.map(({ name }) => name)

it('a search finds tools by exact names before all others', () => {
  expect(namesFor('create_foreign_refund, get_domestic_order').slice(0, 2)).toEqual([
    'get_domestic_order',
    'create_foreign_refund',
  ])
  expect(namesFor('get_domestic_order')).toEqual(['get_domestic_order'])
})

it('a search ranks tools by the words of names, descriptions and parameters', () => {
  expect(namesFor('approve invoices from abroad, foreign ones')[0]).toBe('approve_foreign_invoice')
  expect(namesFor('ShipmentExport domestic')[0]).toBe('export_domestic_shipment')
  const found = findTools(tools, 'refund')
  expect(found.found).toHaveLength(8)
  expect([...found.found.map(({ name }) => name), ...found.others].every((name) => name.endsWith('_refund'))).toBe(true)
  expect(found.others).toHaveLength(12)
})

it('a search leaves out tools that match only common words', () => {
  expect(namesFor('delete the domestic ticket of a caller').every((name) => /delete|ticket/.test(name))).toBe(true)
})

it('a search finds no tool for words that no tool has, and is the same every time', () => {
  for (const query of ['', '???', 'photosynthesis', '日本']) expect(namesFor(query)).toEqual([])
  expect(namesFor('list open orders')).toEqual(namesFor('list open orders'))
})

it('a search renders the classes that the found tools need, once and before their use', () => {
  const employee = z.object({ id: z.string(), boss: z.object({ id: z.string(), level: z.int() }) })
  const define = (name: string, extra: object = {}) =>
    defineTool({
      name,
      description: `${name}.`,
      effect: 'read',
      input: z.object({}),
      output: employee,
      run: () => null as never,
      ...extra,
    })
  const all = createRegistry([define('first'), define('second'), define('third')]).documentation()
  // The stub of the first tool declares the classes.
  expect(all[1]?.stub).not.toContain('class ')
  const text = renderFoundStubs(all, all.slice(1))
  const order = [
    /^class \w*Boss\(TypedDict\):/m,
    /^class SecondResult|^class FirstResult/m,
    /^async def second/m,
    /^async def third/m,
  ]
  const positions = order.map((pattern) => text.search(pattern))
  expect(positions).toEqual(positions.toSorted((a, b) => a - b))
  expect(positions[0]).toBe(0)
  expect(text.match(/^class /gm)).toHaveLength(2)
})

it('a search in JavaScript renders the types that the found tools need, once and before their use', () => {
  const boss = z.object({ id: z.string() }).meta({ title: 'Boss' })
  const employee = z.object({ id: z.string(), boss }).meta({ title: 'Employee' })
  const define = (name: string) =>
    defineTool({
      name,
      description: `${name}.`,
      effect: 'read',
      input: z.object({}),
      output: employee,
      run: () => null as never,
    })
  const registry = createRegistry([define('first'), define('second'), define('third')]).inLanguage('javascript')
  const all = registry.documentation()
  expect(all[1]?.stub).toBe('/** second. */\ndeclare function second(): Promise<Employee>')
  expect(renderFoundStubs(all, all.slice(1), languageOf('javascript'))).toBe(`interface Boss { id: string }

interface Employee { id: string; boss: Boss }

/** second. */
declare function second(): Promise<Employee>

/** third. */
declare function third(): Promise<Employee>`)
})
