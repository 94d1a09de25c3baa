import { expect, it } from 'vitest'
import type { JsonObject } from '../../common/json/json.js'
import type { AssistantBlock } from '../../common/agent/messages.js'
import { zeroUsage } from '../../common/run/runs.js'
import { answerTool } from '../../models/prompt/answer-tool.js'
import { checkAnswer, type Expected } from './check-answer.js'

const schema: JsonObject = {
  type: 'object',
  properties: { total: { type: 'integer', minimum: 1 } },
  required: ['total'],
}

function check(outputSchema: JsonObject, ...content: readonly AssistantBlock[]) {
  return checkIn({ outputSchema }, ...content)
}

function checkIn(expected: Expected, ...content: readonly AssistantBlock[]) {
  const reply = { model: 'm', content, stopReason: 'tool_use', usage: zeroUsage, costUsd: 0, requestId: null }
  return checkAnswer(expected, reply).answer
}

const submit = (input: JsonObject, id = 'a') => ({ type: 'tool_use', id, name: 'submit_answer', input }) as const

it('an answer that matches the schema is accepted unchanged', () => {
  expect(check(schema, submit({ total: 3, note: 'x' }))).toEqual({ type: 'valid', output: { total: 3, note: 'x' } })
  expect(check(schema, { type: 'text', text: '3' })).toBeUndefined()
})

it('the problem of an invalid answer names the parts that do not match the schema', () => {
  expect(check(schema, submit({ total: 0 }))).toEqual({
    type: 'invalid',
    problem:
      'The answer does not fit its schema:\n- total: Too small: expected number to be >=1\nSubmit it again, corrected.',
  })
})

it('an answer that could not be read is refused for every schema', () => {
  const unread = { ...submit({ total: 3 }), input_problem: 'The answer is no JSON.' }
  expect(check(schema, unread)).toEqual({ type: 'invalid', problem: 'The answer is no JSON.' })
})

it('an answer together with other tool uses is refused', () => {
  const other = { type: 'tool_use', id: 'b', name: 'execute_code', input: {} } as const
  const refused = { type: 'invalid', problem: expect.stringContaining('together with other tools') as string }
  expect(check(schema, other, submit({ total: 3 }))).toEqual(refused)
  expect(check(schema, submit({ total: 3 }), submit({ total: 4 }, 'b'))).toEqual(refused)
})

it.each([
  [{ type: 'array', items: { $ref: '#/$defs/Id' }, $defs: { Id: { type: 'string' } } }, ['x'], [1]],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, null, 1],
  [{ type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1 }, 'text'],
] as const)('an answer that is not a plain object is wrapped: %j', (outputSchema, valid, invalid) => {
  const { inputSchema } = answerTool(outputSchema)
  expect(inputSchema).toMatchObject({ type: 'object', required: ['answer'] })
  expect(check(outputSchema, submit({ answer: valid }))).toEqual({ type: 'valid', output: valid })
  expect(check(outputSchema, submit({ answer: invalid }))).toMatchObject({ type: 'invalid' })
  expect(check(outputSchema, submit({}))).toMatchObject({ type: 'invalid' })
})

const use = (name: string, input: JsonObject = {}) => ({ type: 'tool_use', id: 'u', name, input }) as const
const plan = use('submit_plan', { steps: [{ id: 'a', task: 'Do it.' }] })

it('a text, a plan and a reason to give up are accepted in the modes that have them', () => {
  const giveUp = use('give_up', { reason: 'No access.' })
  const gaveUp = { type: 'gave_up', reason: 'No access.' }
  expect(checkIn({ mode: 'autonomous' }, submit({ answer: 'Done.' }))).toEqual({ type: 'valid', output: 'Done.' })
  expect(checkIn({ mode: 'autonomous' }, giveUp)).toEqual(gaveUp)
  expect(checkIn({ mode: 'plan' }, giveUp)).toEqual(gaveUp)
  expect(checkIn({ mode: 'plan' }, plan)).toMatchObject({ type: 'plan', steps: [{ id: 'a', dependsOn: [] }] })
  for (const mode of [undefined, 'single-turn'] as const) expect(checkIn({ mode }, giveUp)).toBeUndefined()
  for (const mode of [undefined, 'autonomous'] as const) expect(checkIn({ mode }, plan)).toBeUndefined()
})

it('giving up without a reason, or together with other tool uses, is refused', () => {
  const invalid = (problem: string) => ({ type: 'invalid', problem: expect.stringContaining(problem) as string })
  expect(checkIn({ mode: 'plan' }, use('give_up'))).toEqual(invalid('give_up needs the reason'))
  expect(checkIn({ mode: 'plan' }, plan, use('ping'))).toEqual(invalid('submit_plan was called together'))
})

it('a single turn with an output schema must submit an answer', () => {
  expect(checkIn({ mode: 'single-turn', outputSchema: schema }, use('execute_code'))).toMatchObject({ type: 'invalid' })
  expect(checkIn({ mode: 'single-turn', outputSchema: schema }, { type: 'text', text: '3' })).toBeUndefined()
  expect(checkIn({ mode: 'single-turn' }, use('execute_code'))).toBeUndefined()
})
