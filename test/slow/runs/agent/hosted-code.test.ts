import { describe, expect, it } from 'vitest'
import type { RunTree } from '../../../../src/client/index.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../../support/environment/test-environment.js'
import { container, hostedCall, hostedCode, hostedResult, hostedTurn } from '../../../support/hosted-code.js'
import { faulty, text, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

const sandbox = 'anthropic'
const source = 'print(await double({"n": 1}) + await double({"n": 2}))'
const double = tool('double', ({ n }) => Number(n) * 2)

/** Two calls at once, then a third one. */
const pauses = [
  hostedTurn([text('I add.'), hostedCode('s1', source), hostedCall('s1', 'double', { n: 1 })]),
  hostedTurn([hostedCall('s1', 'double', { n: 2 }), hostedCall('s1', 'double', { n: 3 })]),
]

/** No code runs on this machine, so the workers need no Docker. */
function start(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  return TestEnvironment.start({ backend: 'wasm', ...options })
}

/** The bodies of the requests to the model. */
function bodies({ api }: TestEnvironment) {
  return api.requests.map(({ body }) => body as { readonly container?: string; readonly messages: readonly object[] })
}

function cellsOf(tree: RunTree) {
  return tree.turns.flatMap(({ cells }) => cells)
}

it('executes the calls of hosted code as activities, and answers with results and the container', async () => {
  const script = [...pauses, hostedTurn([hostedResult('s1', '12\n'), text('It is 12.')])]
  // Turns that only continue the code do not count.
  const env = await start({ tools: [double], script, limits: { turns: 1 } })
  expect(await env.runAgent({ sandbox })).toMatchObject({
    status: 'answered',
    answer: 'It is 12.',
    turns: 3,
    cells: 1,
    toolCalls: 3,
  })
  const activities = (await env.activities()).map(({ type }) => type)
  expect(activities).toEqual(['run.config', 'model.turn', 'double', 'model.turn', 'double', 'double', 'model.turn'])
  const [first, second, third] = bodies(env)
  expect(first).toMatchObject({
    tools: [
      { type: 'code_execution_20260120', name: 'code_execution' },
      { name: 'double', allowed_callers: ['direct', 'code_execution_20260120'] },
    ],
  })
  expect(first).not.toHaveProperty('container')
  expect(second).toMatchObject({ container: container.id })
  expect(second?.messages.at(-1)).toMatchObject({ role: 'user', content: [{ type: 'tool_result', content: '2' }] })
  expect(third).toMatchObject({ container: container.id })
  expect(third?.messages.at(-1)).toMatchObject({ content: [{ content: '4' }, { content: '6' }] })
  expect(third?.messages[1]).toMatchObject({
    content: [{ type: 'text' }, { type: 'server_tool_use', id: 's1', input: { code: source } }, { type: 'tool_use' }],
  })
})

it('shows hosted code and its calls in the run tree', async () => {
  const script = [...pauses, hostedTurn([hostedResult('s1', '12\n'), text('It is 12.')])]
  const env = await start({ tools: [double], script })
  await env.runAgent({ sandbox })
  const tree = await env.ptc.handle(env.lastRun.workflowId).tree()
  expect(tree).toMatchObject({ backend: sandbox, totals: { cells: 1, toolCalls: 3 } })
  expect(tree.turns.flatMap(({ directCalls }) => directCalls)).toEqual([])
  expect(cellsOf(tree)).toMatchObject([
    {
      number: 1,
      code: source,
      status: 'ok',
      output: '12\n',
      calls: [
        { summary: 'double 1', status: 'ok', position: { turn: 1, cell: 1, index: 1 } },
        { status: 'ok', resultPreview: '4', position: { turn: 2, cell: 1, index: 2 } },
        {
          caller: 'code_execution',
          toolUseCaller: { type: 'code_execution_20260120', tool_id: 's1' },
          position: { turn: 2, cell: 1, index: 3 },
        },
      ],
    },
  ])
})

it('gives hosted code the outcome of failed calls, and refuses calls over the limit of a cell', async () => {
  const failing = tool('failing', () => Promise.reject(new Error('down')), { retry: { attempts: 1 } })
  const direct = tool('direct_only', () => 'ran', { allowedCallers: ['direct'] })
  const calls = ['failing', 'direct_only', 'gone', 'double'].map((name) => hostedCall('s1', name))
  const env = await start({
    tools: [double, failing, direct],
    limits: { callsPerCell: 3 },
    script: [hostedTurn([hostedCode('s1', source), ...calls]), hostedTurn([hostedResult('s1', ''), text('Well.')])],
  })
  expect(await env.runAgent({ sandbox })).toMatchObject({ status: 'answered', toolCalls: 1 })
  expect(env.lastUserContent()).toMatchObject([
    { content: '[tool_error] down', is_error: true },
    { content: expect.stringMatching(/^\[denied\] direct_only/) as string },
    { content: expect.stringMatching(/^\[denied\]/) as string },
    { content: '[denied] more than 3 tool calls in one cell' },
  ])
})

it('resumes a paused turn of hosted code with its container', async () => {
  const script = [
    hostedTurn([hostedCode('s1', 'long()')], { stop_reason: 'pause_turn' }),
    hostedTurn([hostedResult('s1', ''), text('Done.')]),
  ]
  const env = await start({ script })
  expect(await env.runAgent({ sandbox })).toMatchObject({ status: 'answered', answer: 'Done.', turns: 2, cells: 1 })
  expect(bodies(env)[1]).toMatchObject({ container: container.id, messages: [{ role: 'user' }, { role: 'assistant' }] })
})

it('keeps the container of hosted code over continue-as-new while code waits', async () => {
  const calls = Array.from({ length: 40 }, (_, n) => hostedCall('s1', 'double', { n }))
  const env = await start({
    tools: [double],
    limits: { historyEvents: 100 },
    script: [
      hostedTurn([hostedCode('s1', source), ...calls]),
      hostedTurn([hostedResult('s1', '1560\n'), text('It is 1560.')]),
    ],
  })
  expect(await env.runAgent({ sandbox })).toMatchObject({ answer: 'It is 1560.', cells: 1, toolCalls: 40 })
  expect((await env.executionHistories()).length).toBeGreaterThan(1)
  expect(bodies(env)[1]).toMatchObject({ container: container.id })
})

describe('a lost container', () => {
  const again = { ...turn(text('I saw it.')), match: { lastUserText: '[container_expired]' } }

  /** A run whose code makes one call and never gets the result. */
  async function runLost(...script: Parameters<typeof hostedTurn>[1][]) {
    let calls = 0
    const count = tool('count', () => (calls += 1), { effect: 'once' })
    const [pause = {}, refusal] = script
    const env = await start({
      tools: [count],
      script: [
        hostedTurn([hostedCode('s1', 'await count({})'), hostedCall('s1', 'count')], pause),
        ...(refusal ? [refused] : []),
        again,
      ],
    })
    expect(await env.runAgent({ sandbox })).toMatchObject({ status: 'answered', answer: 'I saw it.', toolCalls: 1 })
    expect(calls).toBe(1)
    const last = bodies(env).at(-1)
    expect(last).not.toHaveProperty('container')
    expect(last?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'user', content: [{ type: 'tool_result', content: '1' }] },
      { role: 'assistant', content: [{ type: 'code_execution_tool_result', content: { error_code: 'unavailable' } }] },
      { role: 'user', content: [{ text: expect.stringContaining('- count({}) -> 1') as string }] },
    ])
    const tree = await env.ptc.handle(env.lastRun.workflowId).tree()
    expect(cellsOf(tree)).toMatchObject([{ status: 'lost', calls: [{ status: 'ok' }] }])
    return env
  }

  const refused = faulty(
    [{ type: 'status', attempt: 'every', status: 400, error: { message: 'container: it is gone' } }],
    turn(text('unused')),
  )

  it('the model reads results that come too late for a lost container, and the code is not continued', async () => {
    const env = await runLost({ container: { ...container, expires_at: '2020-01-01T00:00:00Z' } })
    expect(env.api.requests).toHaveLength(2)
  })

  it('a request that the API refuses because of a lost container is repeated without it', async () => {
    const env = await runLost({}, {})
    expect(env.api.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'faulted', 'answered'])
  })
})

it('a program, which has no model, fails before it begins with hosted code', async () => {
  const env = await start()
  const handle = await env.startProgram('print(1)', { sandbox })
  await expect(env.ptc.handle(handle.workflowId).result()).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
})
