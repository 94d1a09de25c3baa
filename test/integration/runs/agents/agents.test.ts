import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent } from '../../../../src/index.js'
import { answerResult, call, code, text, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'

interface SentPrompt {
  readonly model: string
  readonly system: readonly { readonly text: string }[]
  readonly tools: readonly { readonly name: string; readonly description: string }[]
}

/** The prompts that the model received. */
function prompts(env: TestEnvironment): readonly SentPrompt[] {
  return env.api.requests.map(({ body }) => body as SentPrompt)
}

it('an agent has its instructions, model, tools and limits, also after a deployment that changes them', async () => {
  const called = new Deferred()
  const opened = new Deferred()
  const waits = async (): Promise<null> => {
    called.resolve()
    await opened.promise
    return null
  }
  const gate = tool('gate', waits, { allowedCallers: ['direct', 'code_execution'] })
  const tools = [gate, tool('pay', () => null)]
  const agents = (instructions: string) => [
    defineAgent({ name: 'clerk', instructions, tools: ['gate'], model: 'clerk-model', limits: { turns: 2 } }),
  ]
  const denied = 'try:\n    await pay()\nexcept NameError as error:\n    print(error)\nawait gate()'
  const script = [turn(code(denied)), turn(call('pay'))]
  const env = await TestEnvironment.start({ tools, agents: agents('Version 1.'), script })
  const handle = await env.startAgent({ agent: 'clerk' })
  await called.promise
  const [stopped] = [env.workers.stop(), opened.resolve()]
  await stopped
  await env.workers.start({ agents: agents('Version 2.') })
  const result = await env.agentResult(handle)

  expect(result).toMatchObject({ status: 'turn_limit', turns: 2 })
  expect(prompts(env)).toHaveLength(2)
  for (const { model, system, tools: sent } of prompts(env)) {
    expect(model).toBe('clerk-model')
    expect(system[0]?.text).toMatch(/^Version 1\./)
    expect(sent.map(({ name }) => name)).toEqual(['execute_code', 'gate', 'read_more'])
  }
  // The model can't call a tool of the worker that the agent does not have.
  expect((await env.activities()).map(({ type }) => type)).not.toContain('pay')
  expect(JSON.stringify(env.lastUserContent())).toContain("name 'pay' is not defined")
  await env.expectCleanEnd(handle)
})

const analyst = defineAgent({
  name: 'analyst',
  instructions: 'You analyse.',
  output: z.object({ total: z.int().min(1), note: z.string().default('none') }),
})

it('asks again for an answer that does not fit the schema, and the client gets the typed output', async () => {
  const script = [
    turn(text('The total is 3.')),
    turn(call('submit_answer', { total: 0 })),
    turn(call('submit_answer', { total: 3 })),
  ]
  const env = await TestEnvironment.start({ agents: [analyst], script })
  const run = await env.ptc.startAgent(analyst, { question: 'How much?' })
  const result = await run.result()

  if (result.status !== 'answered') throw new Error(result.status)
  const { total, note }: { total: number; note: string } = result.output
  expect({ total, note }).toEqual({ total: 3, note: 'none' })
  expect(result).toMatchObject({ answer: '{"total":3}', turns: 3 })
  const sent = JSON.stringify(env.api.requests.at(-1)?.body)
  expect(sent).toContain('Deliver your answer with submit_answer')
  expect(sent).toContain('Too small: expected number to be >=1')
  await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
})

it('an agent ends with its own status after too many answers that do not fit the schema', async () => {
  const script = [
    turn(call('submit_answer', {}), code('print(1)')),
    turn(call('submit_answer', {})),
    turn(text('Three.'), call('submit_answer', {})),
  ]
  const env = await TestEnvironment.start({ agents: [analyst], script })
  const result = await env.runAgent({ agent: 'analyst' })
  expect(result).toMatchObject({ status: 'invalid_answer', answer: 'Three.', turns: 3, cells: 1 })
  expect(result).not.toHaveProperty('output')
})

it.each([
  [{ agent: 'analist' }, 'AGENT_UNKNOWN', expect.stringContaining('Did you mean "analyst"?')],
  [{ model: 'opnai/m' }, 'MODEL_NOT_FOUND', expect.stringContaining('Did you mean "openai"?')],
  [{ tools: ['ask'] }, 'TOOL_UNKNOWN', expect.stringContaining('there is no tool named "ask"')],
  [{ context: 'acme' as never }, 'RUN_INPUT_INVALID', expect.stringContaining('not an object')],
] as const)('a run with %j fails without a retry', async (input, code, message) => {
  const env = await TestEnvironment.start({ agents: [analyst] })
  const handle = await env.startAgent(input)
  await expect(env.ptc.handle(handle.workflowId).result()).rejects.toMatchObject({ code, message })
  expect((await env.activities()).map(({ type }) => type)).toEqual(['run.config'])
})

it('code has the input of the run in every cell, and the model sees its type', async () => {
  const input = Array.from({ length: 3_000 }, (_, id) => ({ id }))
  const script = [turn(code('total = len(input_data)')), turn(code('print(total, input_data[-1])')), answerResult]
  const env = await TestEnvironment.start({ script })
  const { answer } = await env.runAgent({ input })
  expect(answer).toBe("3000 {'id': 2999}")
  expect(prompts(env)[0]?.tools[0]?.description).toContain(
    'input_data` has the data that came with the question: a list of 3000 items; the first is a dict with the keys "id".',
  )
  // The start and activity `run.config` have the value of 35 KB. All later events have a reference.
  expect(await env.historyBytes()).toBeLessThan(100_000)
})
