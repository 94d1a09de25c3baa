import { expect, it } from 'vitest'
import type { JsonObject } from '../../../../src/common/json/json.js'
import type { ScriptedTurn } from '../../../../src/testing/index.js'
import { requestMessages, TestEnvironment } from '../../../support/environment/test-environment.js'
import { call, text, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

const step = (id: string, ...dependsOn: readonly string[]) => ({ id, task: `Do ${id}.`, dependsOn })
const submit = (...steps: readonly JsonObject[]) => call('submit_plan', { steps })
const diamond = [step('root'), step('left', 'root'), step('right', 'root'), step('join', 'left', 'right')]

/** A turn that follows the message that gives the model this step. */
function inStep(id: string, scripted: ScriptedTurn): ScriptedTurn {
  return { ...scripted, match: { lastToolResult: `Do step ${id} now` } }
}

const afterSteps = (scripted: ScriptedTurn): ScriptedTurn => ({
  ...scripted,
  match: { lastToolResult: 'The steps have ended' },
})

/** The texts of the messages that the model got, request by request. */
function sent(env: TestEnvironment): readonly string[] {
  return env.api.requests.map(({ body }) => JSON.stringify(requestMessages(body)))
}

it('mode plan asks for a valid plan, does its steps in the order of their dependencies, and answers', async () => {
  const look = tool('look', ({ at }) => `seen ${at as string}`)
  const env = await TestEnvironment.start({
    tools: [look],
    script: [
      turn(text('I think.')),
      turn(call('look', { at: 'first' })),
      turn(submit(step('a', 'b'), step('b', 'a'))),
      turn(submit(...diamond)),
      inStep('root', turn(call('look', { at: 'root' }))),
      { ...turn(text('root says 1')), match: { lastToolResult: 'seen root' } },
      inStep('left', turn(text('left says 2'))),
      inStep('right', turn(text('right says 3'))),
      inStep('join', turn(text('join says 5'))),
      afterSteps(turn(text('Five.'))),
    ],
  })
  const handle = await env.startAgent({ mode: 'plan' })
  const result = await env.agentResult(handle)
  expect(result).toMatchObject({ status: 'answered', answer: 'Five.', turns: 10, toolCalls: 2 })
  expect(result.plan?.map(({ id, status, result: said }) => `${id} ${status}: ${said}`)).toEqual([
    'root done: root says 1',
    'left done: left says 2',
    'right done: right says 3',
    'join done: join says 5',
  ])
  const requests = sent(env)
  expect(requests[1]).toContain('a text is not a plan')
  expect(requests[3]).toContain('these steps depend on each other in a circle: a, b')
  // A step has the messages of the planning, and only the results of its dependencies.
  const right = requests.find((request) => request.includes('Do step right now'))
  expect(right).toContain('seen first')
  expect(right).toContain('root says 1')
  expect(right).not.toContain('seen root')
  expect(right).not.toContain('left says 2')
  expect(requests.at(-1)).toContain('[join: done]')
  const tree = await env.ptc.handle(handle.workflowId).tree()
  expect(tree).toMatchObject({ result: { plan: [{ id: 'root' }, {}, {}, {}] } })
  expect(tree.turns.map(({ planStep = '-' }) => planStep)).toEqual([
    '-',
    '-',
    '-',
    '-',
    'root',
    'root',
    'left',
    'right',
    'join',
    '-',
  ])
  // A query between two workflow tasks is refused.
  const details = () => handle.query('__temporal_workflow_metadata')
  expect(await details().catch(details)).toMatchObject({
    currentDetails: expect.stringContaining('3. `right` done: `Do right.`') as string,
  })
  await env.expectCleanEnd(handle)
})

it('mode plan skips the steps after one that was given up or failed, and tells the model', async () => {
  const ping = tool('ping', () => 'pong')
  const env = await TestEnvironment.start({
    tools: [ping],
    limits: { turns: 2 },
    script: [
      turn(submit(...diamond, step('endless'), step('after', 'endless'))),
      inStep('root', turn(text('ok'))),
      inStep('left', turn(call('give_up', { reason: 'No access.' }))),
      inStep('right', turn(text('ok'))),
      inStep('endless', turn(call('ping'))),
      { ...turn(call('ping')), match: { lastToolResult: { equals: 'pong' } } },
      afterSteps(turn(text('Half of it.'))),
    ],
  })
  const { plan, ...result } = await env.runAgent({ mode: 'plan' })
  expect(result).toMatchObject({ status: 'answered', answer: 'Half of it.' })
  expect(plan?.map(({ id, status, result: said }) => `${id} ${status}: ${said}`)).toEqual([
    'root done: ok',
    'left gave_up: No access.',
    'right done: ok',
    'join skipped: step left has no result',
    'endless failed: [turn_limit]',
    'after skipped: step endless has no result',
  ])
  expect(sent(env).at(-1)).toContain('[left: gave up]\\nNo access.')
})

it('mode plan ends without a valid plan after as many attempts as answers have, and with the budget', async () => {
  const tooMany = submit(...Array.from({ length: 21 }, (_, n) => step(`s${n}`)))
  const env = await TestEnvironment.start({
    script: {
      conversations: [
        { match: { firstUserText: 'invalid' }, turns: [turn(tooMany), turn(text('No.')), turn(call('submit_plan'))] },
        { turns: [turn(submit(step('a'), step('b'))), inStep('a', turn(text('ok')))] },
      ],
    },
  })
  const result = await env.runAgent({ question: 'invalid', mode: 'plan' })
  expect(result).toMatchObject({ status: 'invalid_plan', answer: 'No.', turns: 3 })
  expect(sent(env)[1]).toContain('it has 21 steps; at most 20 are allowed')
  expect(await env.runAgent({ mode: 'plan', budget: { turns: 2, whenSpent: 'end' } })).toMatchObject({
    status: 'budget_spent',
    turns: 2,
    plan: [{ status: 'done' }, { status: 'running' }],
  })
})

it('mode plan continues as new within a step, with the plan and its results', async () => {
  const seen: unknown[] = []
  const look = tool('look', ({ at }) => {
    seen.push(at)
    return at
  })
  const looks = (id: string) => turn(...Array.from({ length: 12 }, (_, n) => call('look', { at: `${id}-${n}` })))
  const env = await TestEnvironment.start({
    tools: [look],
    limits: { historyEvents: 100 },
    script: [
      turn(submit(...diamond)),
      ...diamond.flatMap(({ id }) => [
        inStep(id, looks(id)),
        { ...turn(text(`${id} is done`)), match: { lastToolResult: { equals: `${id}-11` } } },
      ]),
      afterSteps(turn(text('Done.'))),
    ],
  })
  const handle = await env.startAgent({ mode: 'plan' })
  const result = await env.agentResult(handle)
  expect(result).toMatchObject({ status: 'answered', answer: 'Done.', turns: 10, toolCalls: 48 })
  expect(result.plan?.map(({ result: said }) => said)).toEqual(diamond.map(({ id }) => `${id} is done`))
  expect(new Set(seen).size).toBe(48)
  expect(seen).toHaveLength(48)
  expect((await env.executionHistories(handle)).length).toBeGreaterThan(1)
  await env.expectCleanEnd(handle)
})
