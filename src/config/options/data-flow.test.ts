import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.js'
import type { ToolDefinition } from '../../tools/tool-definition.js'
import { createRegistry } from '../../tools/registry.js'
import { checkDataFlow, type DataFlowOption, dataFlowOfRun, dataFlowOption } from './data-flow.js'

function tool(name: string, options: Partial<ToolDefinition<z.ZodObject, z.ZodType>> = {}) {
  const basis = { name, description: 'A test.', input: z.object({}), output: z.string(), effect: 'read' } as const
  return defineTool({ ...basis, run: () => '', ...options } as ToolDefinition<z.ZodObject, z.ZodType>)
}

const registry = createRegistry([
  tool('get_customer', { labels: ['pii'] }),
  tool('send'),
  tool('notes', { keepsArguments: true }),
])
const rule = { labels: ['pii'], tools: ['send'], action: 'deny' } as const

function check(option: DataFlowOption): void {
  checkDataFlow(dataFlowOption.parse(option), registry)
}

it.each([
  [
    'a tool that does not exist',
    { rules: [{ ...rule, tools: ['sent'] }] },
    'there is no tool named sent. Did you mean "send"?',
  ],
  ['labels of a tool that does not exist', { labels: { sent: ['pii'] }, rules: [rule] }, 'there is no tool named sent'],
  ['a label that no tool gives', { rules: [{ ...rule, labels: ['pi'] }] }, 'nothing gives data the label pi'],
  [
    'a memory that may keep what it does not label',
    { rules: [{ ...rule, tools: ['notes'], action: 'ask' }] },
    'a rule lets notes keep data labelled pii, and its results do not have the label',
  ],
] as const)('refuses a rule about %s', (_, option, message) => {
  expect(() => check(option)).toThrow(message)
})

it('a rule may be about a label that only the input of runs has, and the run records it', () => {
  const settings = dataFlowOption.parse({ input: ['personal'], rules: [{ ...rule, labels: ['personal'] }] })
  checkDataFlow(settings, registry)
  expect(dataFlowOfRun(settings, registry)).toMatchObject({ input: ['personal'] })
  expect(dataFlowOfRun(dataFlowOption.parse({ rules: [rule] }), registry)).not.toHaveProperty('input')
})

it.each([
  ['no receiver', { rules: [{ labels: ['pii'], action: 'deny' }] }, 'must name `tools`'],
  ['no rule', { rules: [] }, 'Too small'],
  ['no label', { rules: [{ ...rule, labels: [] }] }, 'Too small'],
  ['an empty list of labels of the input', { input: [], rules: [rule] }, 'Too small'],
  ['a label that is no word', { rules: [{ ...rule, labels: ['a b'] }] }, 'must be a label'],
  ['another action', { rules: [{ ...rule, action: 'log' }] }, 'Invalid option'],
  ['an unknown key', { rules: [rule], default: 'deny' }, 'Unrecognized key'],
])('refuses a configuration with %s', (_, option, message) => {
  expect(() => dataFlowOption.parse(option)).toThrow(message)
})

it.each([
  ['is no list', 'pii'],
  ['is empty', []],
  ['has a key of objects', ['__proto__']],
])('refuses a tool whose list of labels %s', (_, labels) => {
  expect(() => tool('x', { labels: labels as never })).toThrow('labels is invalid')
})

it('refuses a function for the labels of a local tool', () => {
  expect(() => tool('x', { labels: () => [], execution: 'local' })).toThrow(
    "execution 'local' and labels by a function",
  )
})

it('a tool that keeps its arguments gets no restricted label, after the rules of the configuration', () => {
  const settings = dataFlowOption.parse({ labels: { 's*': ['sent'] }, rules: [rule] })
  expect(dataFlowOfRun(settings, registry)).toEqual({
    rules: [rule, { labels: ['pii'], tools: ['notes'], action: 'deny' }],
    labels: { get_customer: ['pii'], send: ['sent'] },
  })
  expect(dataFlowOfRun(settings, registry.subset(['send']))).toEqual({ rules: [rule], labels: { send: ['sent'] } })
  expect(dataFlowOfRun(undefined, registry)).toBeUndefined()
})
