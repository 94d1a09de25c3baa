import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AgentDefinition, defineAgent, memory } from '../../../src/index.js'
import type { DataFlowOption } from '../../../src/config/options/data-flow.js'
import type { ScriptedTurn } from '../../../src/testing/index.js'
import type { ScriptedConversation } from '../../../src/testing/scripted-messages-api/script/script.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, call, code, faulty, text, turn } from '../../support/script.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { denySend, leakTools, refusal, secret } from '../../integration/data-flow/leak-tools.js'

const trySend = (argument: string) => `
try:
    print(await send(text=${argument}))
except Exception as error:
    print(type(error).__name__, error)`

/** A call of a task that outlives its cell belongs to the turn in which it was made. */
const refused = /a rule of the configuration denies data labelled pii \(get_customer in turn [12]\) to send/

/** Each script gets the data and tries to send it. */
const laundering = {
  'in one cell': [turn(code(`customer = await get_customer()${trySend("customer['ssn']")}`))],
  'encoded in one cell': [
    turn(code(`customer = await get_customer()${trySend("str([ord(c) for c in customer['ssn']])")}`)),
  ],
  'by a variable of an earlier cell': [turn(code("ssn = (await get_customer())['ssn']")), turn(code(trySend('ssn')))],
  'by a file of the session': [
    turn(code("open('/tmp/note', 'w').write((await get_customer())['ssn'])")),
    turn(code(trySend("open('/tmp/note').read()"))),
  ],
  'by an exception that an earlier cell left behind': [
    turn(code("ssn = (await get_customer())['ssn']\nraise ValueError(ssn)")),
    turn(code(trySend('ssn'))),
  ],
  'by a task that outlives its cell': [
    turn(
      code(
        "import asyncio\nasync def later():\n    return (await get_customer())['ssn']\ntask = asyncio.create_task(later())\nawait asyncio.sleep(0)",
      ),
    ),
    turn(code(`ssn = await task${trySend('ssn')}`)),
  ],
  'by the model, from a direct call to a direct call': [
    turn(call('get_customer')),
    turn(call('send', { text: secret })),
  ],
  'by the model, from a direct call to code': [turn(call('get_customer')), turn(code(trySend(`'${secret}'`)))],
  'by the model, from the output of code to a direct call': [
    turn(code('print(await get_customer())')),
    turn(call('send', { text: secret })),
  ],
  'by the model, from the error of code to a direct call': [
    turn(code("raise ValueError((await get_customer())['ssn'])")),
    turn(call('send', { text: secret })),
  ],
} as const

describe('laundering', () => {
  const { tools, sent } = leakTools()
  const conversations = Object.entries(laundering).map(([way, script]) => answering(way, ...script, answerResult))
  let env: TestEnvironment
  beforeAll(async () => {
    const script = { conversations }
    env = await TestEnvironment.start({ tools, dataFlow: denySend, script, onCleanup: afterAll })
  })

  it.each(Object.keys(laundering))('labelled data does not reach a denied tool %s', async (way) => {
    const handle = await env.startAgent({ question: way })
    const result = await env.agentResult(handle)
    expect(result).toMatchObject({ status: 'answered', answer: expect.stringMatching(refused) as string })
    expect(result.labels).toEqual({ pii: expect.stringMatching(/^get_customer in turn [12]$/) as string })
    expect(sent).toEqual([])
    await env.expectCleanEnd(handle)
  })
})

it('a call that began before the labelled result is not refused, and nor is one of a run without the data', async () => {
  const { tools, sent } = leakTools()
  const script = [
    turn(code("import asyncio\nprint(await asyncio.gather(send(text='before'), get_customer()))")),
    answerResult,
  ]
  const env = await TestEnvironment.start({ tools, dataFlow: denySend, script })
  expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: expect.stringContaining('sent') as string })
  expect(sent).toEqual(['before'])
})

it('code that prints nothing keeps the label in its session, and a new session has none', async () => {
  const { tools, sent } = leakTools()
  const script = [
    turn(code('customer = await get_customer()'), call('send', { text: 'from the model' })),
    turn(call('send', { text: 'still from the model' })),
    turn(code('import os\nos._exit(1)')),
    turn(code(trySend("'from a new program'"))),
    answerResult,
  ]
  const env = await TestEnvironment.start({ tools, dataFlow: denySend, script })
  const result = await env.runAgent()
  expect(sent.slice(0, 2)).toEqual(['from the model', 'still from the model'])
  // A program that ends its process loses the cell: the variables of the cells before are there again.
  expect(result.answer).toContain(refusal)
})

const about = { description: 'Helps.', instructions: 'Help.' }
const ownTools = ['get_customer', 'send']

/** A helper with these options, and an agent that can ask it. */
function withHelper(options: Partial<AgentDefinition> = {}) {
  const helper = defineAgent({ name: 'helper', ...about, tools: ownTools, ...options })
  return [helper, defineAgent({ name: 'main', ...about, tools: ownTools, agents: [helper] })]
}

/** The turns of the run with this question. */
function answering(question: string, ...turns: readonly ScriptedTurn[]): ScriptedConversation {
  return { match: { firstUserText: { equals: question } }, turns }
}

it('a sub-agent begins with the labels of its caller', async () => {
  const { tools, sent } = leakTools()
  const conversations = [
    answering('go', turn(code(`ssn = (await get_customer())['ssn']\nprint(await helper(task=ssn))`)), answerResult),
    answering(secret, turn(call('send', { text: secret })), answerResult),
  ]
  const env = await TestEnvironment.start({
    tools,
    agents: withHelper(),
    dataFlow: denySend,
    script: { conversations },
  })
  const handle = await env.startAgent({ agent: 'main', question: 'go' })
  expect((await env.agentResult(handle)).answer).toContain(refusal)
  expect(sent).toEqual([])
  await env.expectCleanEnd(handle)
})

it.each([
  ['of its own', {}],
  ['of its caller', { sandbox: 'parent' }],
] as const)('the answer of a sub-agent with a sandbox %s has the labels that it ended with', async (_, options) => {
  const { tools, sent } = leakTools()
  const conversations = [
    answering('go', turn(call('helper', { task: 'find' })), turn(call('send', { text: secret })), answerResult),
    answering('find', turn(code('print(await get_customer())')), answerResult),
  ]
  const agents = withHelper(options)
  const env = await TestEnvironment.start({ tools, agents, dataFlow: denySend, script: { conversations } })
  const handle = await env.startAgent({ agent: 'main', question: 'go' })
  expect((await env.agentResult(handle)).answer).toContain(refusal)
  expect(sent).toEqual([])
  await env.expectCleanEnd(handle)
})

it('a sub-agent that fails may have read everything', async () => {
  const { tools, sent } = leakTools()
  const refusedByApi = { type: 'status', attempt: 'every', status: 401 } as const
  const conversations = [
    answering('go', turn(call('helper', { task: 'find' })), turn(call('send', { text: secret })), answerResult),
    answering('find', faulty([refusedByApi], turn(text('unused')))),
  ]
  const agents = withHelper()
  const env = await TestEnvironment.start({ tools, agents, dataFlow: denySend, script: { conversations } })
  expect((await env.runAgent({ agent: 'main', question: 'go' })).answer).toContain(
    'denies data labelled pii (helper in turn 1) to send',
  )
  expect(sent).toEqual([])
})

it('code of a sub-agent in the sandbox of its caller has the labels of the variables there', async () => {
  const { tools, sent } = leakTools()
  const conversations = [
    answering(
      'go',
      turn(code("ssn = (await get_customer())['ssn']")),
      turn(call('helper', { task: 'send it' })),
      answerResult,
    ),
    answering('send it', turn(code(trySend('ssn'))), answerResult),
  ]
  const agents = withHelper({ sandbox: 'parent' })
  const env = await TestEnvironment.start({ tools, agents, dataFlow: denySend, script: { conversations } })
  expect(await env.runAgent({ agent: 'main', question: 'go' })).toMatchObject({
    answer: expect.stringContaining(refusal) as string,
  })
  expect(sent).toEqual([])
})

it('a named session keeps the labels for the runs and clients that use it later', async () => {
  const { tools, sent } = leakTools()
  const conversations = [
    answering('get', turn(code("ssn = (await get_customer())['ssn']")), turn(text('done'))),
    answering('send', turn(code(trySend('ssn'))), answerResult),
  ]
  const env = await TestEnvironment.start({ tools, dataFlow: denySend, script: { conversations } })
  const session = `shared-${env.taskQueue}`
  await env.runAgent({ session, question: 'get' })
  expect(await env.runAgent({ session, question: 'send' })).toMatchObject({
    answer: expect.stringContaining('denies data labelled pii') as string,
    labels: { pii: expect.any(String) as string },
  })
  const executed = await env.ptc.sessions.execute(session, trySend('ssn'))
  expect(executed.outcome.output).toContain('denies data labelled pii')
  expect(sent).toEqual([])
  await env.ptc.sessions.close(session)
})

it('a run does not use a session that was started with other rules', async () => {
  const { tools } = leakTools()
  const script = [turn(code('print(1)')), answerResult]
  const env = await TestEnvironment.start({ tools, dataFlow: denySend, script })
  const session = `old-${env.taskQueue}`
  await env.ptc.sessions.execute(session, "ssn = (await get_customer())['ssn']")
  expect(await env.runAgent({ session })).toMatchObject({ answer: '1' })
  await env.workers.stop()
  await env.workers.start({ dataFlow: { rules: [{ labels: ['pii'], tools: ['*'], action: 'deny' }] } })
  expect(await env.runAgent({ session })).toMatchObject({
    answer: `[denied] session ${session} was started with other rules on data`,
  })
  await env.ptc.sessions.close(session)
})

it('a memory gets no data with a label that a rule restricts, unless what it returns has the label', async () => {
  const store = { kind: 'local', directory: await temporaryFolder() } as const
  const write = { command: 'create', path: '/memories/note.txt', file_text: secret }
  const script = [turn(call('get_customer')), turn(call('memory', write)), answerResult]
  const start = async (dataFlow: DataFlowOption, replies: readonly ScriptedTurn[]) => {
    const { tools, sent } = leakTools()
    const notes = memory({ store, scope: () => 'ann' })
    const env = await TestEnvironment.start({ tools: [...tools, notes], dataFlow, script: replies })
    return { env, sent }
  }
  const refused = await start(denySend, script)
  expect((await refused.env.runAgent()).answer).toContain('denies data labelled pii (get_customer in turn 1) to memory')
  await expect(
    start({ rules: [{ labels: ['pii'], tools: ['memory'], action: 'allow' }, ...denySend.rules] }, script),
  ).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('lets memory keep') as string })
  const allowed = {
    labels: { memory: ['pii'] },
    rules: [{ labels: ['pii'], tools: ['memory'], action: 'allow' as const }, ...denySend.rules],
  }
  expect((await (await start(allowed, script)).env.runAgent()).answer).toContain('note.txt')
  const later = await start(allowed, [
    turn(call('memory', { command: 'view', path: '/memories/note.txt' })),
    turn(call('send', { text: secret })),
    answerResult,
  ])
  expect((await later.env.runAgent()).answer).toContain('denies data labelled pii (memory in turn 1) to send')
  expect(later.sent).toEqual([])
})
