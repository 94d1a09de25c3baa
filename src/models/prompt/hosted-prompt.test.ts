import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../test/support/tools.js'
import { defaultLimits as limits } from '../../common/run/limits.js'
import { documentTools } from '../../tools/documentation/document-tools.js'
import { hostedPrompt, isRecursive } from './hosted-prompt.js'

const input = z.object({ id: z.string() }) as never

it('gives each tool to its callers, and says which type code gets', () => {
  const output = z.object({ total: z.int(), items: z.array(z.object({ name: z.string() })) }) as never
  const tools = documentTools([
    tool('look_up', () => null, { input, output, allowedCallers: ['code_execution'] }),
    tool('pay', () => null, { input, allowedCallers: ['direct'] }),
  ])
  const prompt = hostedPrompt({ tools, limits, instructions: 'You work for Acme.' })
  expect(prompt.system).toMatch(/^You work for Acme\.\n\nYou can run Python with code_execution\./)
  expect(prompt.tools.map(({ name, allowedCallers }) => [name, allowedCallers])).toEqual([
    ['look_up', ['code_execution']],
    ['pay', ['direct']],
  ])
  expect(prompt.tools[0]?.description).toContain('The result, in Python types:\nclass ')
  expect(prompt.tools[0]?.description).toMatch(/\n\nLookUpResult$/)
  expect(prompt.tools[1]?.description).not.toContain('Python')
})

it('a prompt with hosted code has the tool for the answer of an agent with a schema', () => {
  const prompt = hostedPrompt({ tools: [], limits, outputSchema: { type: 'object', properties: {} } })
  expect(prompt.tools.map(({ name }) => name)).toEqual(['submit_answer'])
  expect(prompt.system).toContain('submit_answer')
})

it('only the model may call a tool whose schema is recursive, with hosted code', () => {
  const node = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/Node' } } } } as const
  const inputSchema = { type: 'object', properties: { tree: { $ref: '#/$defs/Node' } }, $defs: { Node: node } } as const
  expect(isRecursive(inputSchema)).toBe(true)
  expect(isRecursive({ type: 'object', properties: { next: { $ref: '#' } } })).toBe(true)
  expect(isRecursive({ ...inputSchema, $defs: { Node: { type: 'string' } } })).toBe(false)
  const allowedCallers = ['direct', 'code_execution'] as const
  const shown = { name: 'draw', description: 'Draws.', inputSchema, inputExamples: [], stub: '', signature: '' }
  const prompt = hostedPrompt({ tools: [{ ...shown, allowedCallers, offeredTo: allowedCallers }], limits })
  expect(prompt.tools).toMatchObject([{ name: 'draw', description: 'Draws.', allowedCallers: ['direct'] }])
})
