import { describe, expect, it } from 'vitest'
import { summaryOf } from '../common/text.js'
import { startOptions } from './start-options.js'

describe('startOptions', () => {
  it('makes up readable ids that differ', () => {
    const ids = Array.from({ length: 50 }, () => startOptions('agent', 'why?', 'queue', {}).workflowId)
    expect(new Set(ids).size).toBe(50)
    for (const id of ids) expect(id).toMatch(/^agent-[2-9b-z]{10}$/)
  })

  it('tells the Temporal UI what was asked', () => {
    const options = startOptions('agent', 'first line\nsecond', 'queue', { workflowId: 'mine' })
    expect(options).toMatchObject({
      workflowId: 'mine',
      taskQueue: 'queue',
      staticSummary: 'first line second',
      staticDetails: '> first line\n> second',
      memo: { summary: 'first line second' },
    })
  })

  it('keeps a program with fences of its own in one block', () => {
    const { staticDetails } = startOptions('program', "print('```')", 'queue', {})
    expect(staticDetails).toBe("````python\nprint('```')\n````")
  })

  it.each([
    ['', 'the question is empty'],
    [' \n', 'the question is empty'],
    ['x'.repeat(16_000_001), 'the question has 16000001 bytes; a run takes up to 16000000'],
  ])('refuses %j early', (question, message) => {
    expect(() => startOptions('agent', question, 'queue', {})).toThrow(
      expect.objectContaining({ code: 'RUN_INPUT_INVALID', message }),
    )
  })

  it.each(['', 'two words', 'x'.repeat(201)])('refuses the id %j', (workflowId) => {
    expect(() => startOptions('agent', 'why?', 'queue', { workflowId })).toThrow(
      expect.objectContaining({ code: 'RUN_INPUT_INVALID' }),
    )
  })
})

describe('summaryOf', () => {
  it('has at most 200 characters in one line', () => {
    const summary = summaryOf(`a\n\nb ${'x'.repeat(500)}`)
    expect(summary).toHaveLength(200)
    expect(summary).toMatch(/^a b x+…$/)
  })
})
