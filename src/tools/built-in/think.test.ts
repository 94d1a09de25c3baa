import { expect, it } from 'vitest'
import { callTool } from '../../../test/support/call-tool.js'
import { think } from './think.js'

it('a thought is a read of a model, which nobody approves, and its text is the summary', async () => {
  const tool = think()
  expect(tool).toMatchObject({ name: 'think', effect: 'read', allowedCallers: ['direct'] })
  expect(tool).not.toHaveProperty('approval')
  expect(tool.summarize?.({ thought: 'check the total' })).toBe('check the total')
  expect(await callTool(tool, { thought: 'check the total' })).toBe('The thought is recorded.')
})

it('a second tool for thoughts has a name of its own', () => {
  expect(think({ name: 'plan' }).name).toBe('plan')
})
