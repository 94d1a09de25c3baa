import { expect, it } from 'vitest'
import type { JsonObject } from '../../common/json/json.js'
import type { AssistantBlock } from '../../common/runs/messages.js'
import { zeroUsage } from '../../common/runs/runs.js'
import { answerTool } from '../../models/answer-tool.js'
import { checkAnswer } from './check-answer.js'

const schema: JsonObject = {
  type: 'object',
  properties: { total: { type: 'integer', minimum: 1 } },
  required: ['total'],
}

function check(outputSchema: JsonObject, ...content: readonly AssistantBlock[]) {
  const reply = { model: 'm', content, stopReason: 'tool_use', usage: zeroUsage, costUsd: 0, requestId: null }
  return checkAnswer({ outputSchema, planSteps: 3 }, reply).answer
}

const submit = (input: JsonObject, id = 'a') => ({ type: 'tool_use', id, name: 'submit_answer', input }) as const

it('accepts an answer that fits the schema, as it is', () => {
  expect(check(schema, submit({ total: 3, note: 'x' }))).toEqual({ type: 'valid', output: { total: 3, note: 'x' } })
  expect(check(schema, { type: 'text', text: '3' })).toBeUndefined()
})

it('says what does not fit', () => {
  expect(check(schema, submit({ total: 0 }))).toEqual({
    type: 'invalid',
    problem:
      'The answer does not fit its schema:\n- total: Too small: expected number to be >=1\nSubmit it again, corrected.',
  })
})

it('refuses an answer that could not be read, whatever the schema', () => {
  const unread = { ...submit({ total: 3 }), input_problem: 'The answer is no JSON.' }
  expect(check(schema, unread)).toEqual({ type: 'invalid', problem: 'The answer is no JSON.' })
})

it('refuses an answer beside other tool uses', () => {
  const other = { type: 'tool_use', id: 'b', name: 'execute_code', input: {} } as const
  const refused = { type: 'invalid', problem: expect.stringContaining('together with other tools') as string }
  expect(check(schema, other, submit({ total: 3 }))).toEqual(refused)
  expect(check(schema, submit({ total: 3 }), submit({ total: 4 }, 'b'))).toEqual(refused)
})

it.each([
  [{ type: 'array', items: { $ref: '#/$defs/Id' }, $defs: { Id: { type: 'string' } } }, ['x'], [1]],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, null, 1],
  [{ type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1 }, 'text'],
] as const)('wraps an answer that is no plain object: %j', (outputSchema, valid, invalid) => {
  const { inputSchema } = answerTool(outputSchema)
  expect(inputSchema).toMatchObject({ type: 'object', required: ['answer'] })
  expect(check(outputSchema, submit({ answer: valid }))).toEqual({ type: 'valid', output: valid })
  expect(check(outputSchema, submit({ answer: invalid }))).toMatchObject({ type: 'invalid' })
  expect(check(outputSchema, submit({}))).toMatchObject({ type: 'invalid' })
})
