import { expect, it } from 'vitest'
import type { ModelRequest } from '../../provider.js'
import { toCountParams, toResponseParams } from './request.js'

const tools = [{ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, inputExamples: [{ to: 'ada' }] }]
const request: ModelRequest = { model: 'm', maxTokens: 10, system: 'Be brief.', tools, messages: [] }
const form = { includesReasoning: false }

it('describes the tools in the instructions for servers that may ignore them', () => {
  const described = toResponseParams('local', request, { ...form, toolsInSystemPrompt: true })
  expect(described.instructions).toMatch(/^Be brief\.\n\n# Tools/)
  for (const part of ['## pay', 'Pays.', '{"to":"ada"}', '{"type":"object"}'])
    expect(described.instructions).toContain(part)
  expect(toCountParams(described).instructions).toBe(described.instructions)
  expect(described.tools).toHaveLength(1)
})

it('leaves the instructions as they are for other servers, and without tools', () => {
  expect(toResponseParams('local', request, form).instructions).toBe('Be brief.')
  const untooled = { ...request, tools: [], system: '' }
  expect(toResponseParams('local', untooled, { ...form, toolsInSystemPrompt: true })).not.toHaveProperty('instructions')
})
