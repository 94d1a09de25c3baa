import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../../common/run/limits.js'
import { maxPlanSteps, type TaskMode } from '../../common/agent/task-modes.js'
import { buildPrompt } from './prompt.js'

const outputSchema = { type: 'object', properties: { total: { type: 'integer' } } }

function prompt(mode: Exclude<TaskMode, 'answer'> | undefined, hasSchema: boolean) {
  return buildPrompt({ tools: [], limits: defaultLimits, mode, ...(hasSchema && { outputSchema }) })
}

describe('the prompt of a mode', () => {
  it.each([
    [undefined, false, ['execute_code']],
    [undefined, true, ['execute_code', 'submit_answer']],
    ['single-turn', false, ['execute_code']],
    ['single-turn', true, ['submit_answer']],
    ['autonomous', false, ['execute_code', 'submit_answer', 'give_up']],
    ['autonomous', true, ['execute_code', 'submit_answer', 'give_up']],
    ['plan', false, ['execute_code', 'submit_plan', 'give_up']],
    ['plan', true, ['execute_code', 'submit_answer', 'submit_plan', 'give_up']],
  ] as const)('the prompt of mode %s, with an output schema: %s, has the tools %j', (mode, hasSchema, names) => {
    expect(prompt(mode, hasSchema).tools.map(({ name }) => name)).toEqual(names)
  })

  it('the prompt of a mode says how the turns end', () => {
    expect(prompt('single-turn', false).system).toContain('You reply once')
    expect(prompt('single-turn', true).system).not.toContain('execute_code')
    expect(prompt('autonomous', false).system).toContain('a text does not end the work')
    expect(prompt('plan', false).system).toContain(`at most ${maxPlanSteps} steps`)
  })

  it('the answer of autonomous work without an output schema is a text', () => {
    const [, submitAnswer] = prompt('autonomous', false).tools
    expect(submitAnswer?.inputSchema).toMatchObject({
      properties: { answer: { type: 'string' } },
      required: ['answer'],
    })
  })
})
