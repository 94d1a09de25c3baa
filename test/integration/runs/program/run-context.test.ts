import { expect, it } from 'vitest'
import { answerResult, call, code, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { tool } from '../../../support/tools.js'

/** The context that the tool gets. */
const options = { execution: 'local' } as const
const whoami = tool('whoami', (_input, { context, run }) => ({ ...context, ...run }))
const whoamiLocal = tool('whoami_local', (_input, { context, run }) => ({ ...context, ...run }), options)
const tools = [whoami, whoamiLocal]
const context = { tenant: 'acme', user: { id: 7 } }

it('tools get the context and the identity of the run: direct calls, calls of code, local calls', async () => {
  const script = [turn(call('whoami')), turn(code('print([await whoami_local(), await whoami()])')), answerResult]
  const env = await TestEnvironment.start({ tools, script })
  const handle = await env.startAgent({ context })
  const { answer } = await env.agentResult(handle)
  const { workflowId } = handle
  const { runId } = await handle.describe()
  const { namespace } = env.client.options
  const identity = `'namespace': '${namespace}', 'workflowId': '${workflowId}', 'runId': '${runId}'`
  const seen = `{'tenant': 'acme', 'user': {'id': 7}, ${identity}}`
  expect(answer).toBe(`[${seen}, ${seen}]`)
  const sent = JSON.stringify(env.api.requests.map(({ body }) => body))
  expect(sent).toContain('acme') // the results of the tools
  expect(JSON.stringify(env.api.requests[0]?.body)).not.toContain('acme')
  // The worker itself made the local call.
  expect((await env.activities()).map(({ type }) => type)).not.toContain('whoami_local')
  await env.expectCleanEnd(handle)
})

it('a named session has the context and the input of its start, and refuses executions for others', async () => {
  const env = await TestEnvironment.start({ tools })
  const name = `context-${env.taskQueue}`
  env.sessionHandle(name)
  const source = 'print((await whoami())["tenant"], input_data)'
  const seen = "acme {'a': 1, 'b': 2}\n"
  const execute = (given: object) => env.ptc.sessions.execute(name, source, given)
  expect((await execute({ context, tools: ['whoami'], input: { a: 1, b: 2 } })).outcome).toMatchObject({
    status: 'ok',
    output: seen,
  })
  expect((await execute({ input: { b: 2, a: 1 } })).outcome).toMatchObject({ output: seen })
  await expect(execute({ context: { tenant: 'other' } })).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
    message: `session ${name} was started with another context`,
  })
  await expect(execute({ input: { a: 2 } })).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
    message: `session ${name} was started with other input data`,
  })
  const other = await env.ptc.sessions.execute(name, 'print("whoami_local" in dir(__builtins__))')
  expect(other.outcome).toMatchObject({ output: 'False\n' })
})

it('a run that continues as new keeps its context, its input and its tools', async () => {
  const env = await TestEnvironment.start({ tools, limits: { historyEvents: 100 } })
  const source = `
seen = [(await whoami())["tenant"] for _ in range(60)]
print(len(seen), set(seen), input_data["rows"][-1])
`
  const rows = Array.from({ length: 2_000 }, (_, id) => id)
  const handle = await env.startProgram(source, { context, input: { rows }, tools: ['whoami'] })
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: "60 {'acme'} 1999\n" } })
  const executions = await env.executionHistories(handle)
  expect(executions.length).toBeGreaterThan(1)
  // The state has them; the arguments of the next execution do not repeat them.
  const [, next] = executions
  const [input] = next?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
  expect(Buffer.from(input?.data ?? []).toString()).toBe('{}')
  await env.expectCleanEnd(handle)
})

it('a call of a tool that is fair to tenants has the tenant of its run as fairness key', async () => {
  const pay = tool('pay', () => 'paid', { priority: { priorityKey: 2, fairnessKey: { context: 'tenant' } } })
  const env = await TestEnvironment.start({ tools: [pay], script: [turn(call('pay')), answerResult] })
  const priorities = async () => {
    const { events } = await env.history()
    return events.flatMap(({ activityTaskScheduledEventAttributes: activity }) =>
      activity?.activityType?.name === 'pay' ? activity.priority : [],
    )
  }
  for (const tenant of ['acme', 'globex']) {
    await env.runProgram('await pay()', { context: { tenant } })
    expect(await priorities()).toMatchObject([{ priorityKey: 2, fairnessKey: tenant }])
  }
  await env.runAgent({ context })
  expect(await priorities()).toMatchObject([{ priorityKey: 2, fairnessKey: 'acme' }])
  await env.runProgram('await pay()')
  expect(await priorities()).toMatchObject([{ priorityKey: 2, fairnessKey: '' }])
})
