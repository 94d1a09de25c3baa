import { expect, it, vi } from 'vitest'
import type { AuditEvent } from '../../../src/audit/audit-log.js'
import type { ApprovalRequest } from '../../../src/config/options/approvals.js'
import type { DataFlowOption } from '../../../src/config/options/data-flow.js'
import { fileStream } from '../../../src/stream/index.js'
import { TestConversation } from '../../support/environment/test-conversation.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { fastPollOptions } from '../../support/poll-options.js'
import { answerResult, call, code, text, turn } from '../../support/script.js'
import { temporaryFolder } from '../../support/folders.js'
import { denySend, leakTools, refusal, secret } from '../../integration/data-flow/leak-tools.js'

const askSend: DataFlowOption = { rules: [{ labels: ['pii'], tools: ['send'], action: 'ask' }] }
const denyAnswer: DataFlowOption = { rules: [{ labels: ['pii'], answer: true, action: 'deny' }] }
const askAnswer: DataFlowOption = { rules: [{ labels: ['pii'], answer: true, action: 'ask' }] }
const toAnswer = 'data labelled pii (get_customer in turn 1) to the answer'

/** Collects the requests for approval. */
function approvalRequests() {
  const requests: ApprovalRequest[] = []
  const next = async (count: number): Promise<ApprovalRequest> => {
    await vi.waitUntil(() => requests.length === count, fastPollOptions)
    return requests[count - 1] as ApprovalRequest
  }
  return { approvals: { onRequest: (request: ApprovalRequest) => void requests.push(request) }, next }
}

it('a person decides on each call that a rule asks about, also with the same arguments as before', async () => {
  const { tools, sent } = leakTools()
  const { approvals, next } = approvalRequests()
  const script = [
    turn(code("ssn = (await get_customer())['ssn']\nprint(await send(text=ssn))")),
    turn(call('send', { text: secret })),
    turn(call('send', { text: secret })),
    answerResult,
  ]
  const env = await TestEnvironment.start({ tools, dataFlow: askSend, approvals, script })
  const handle = await env.startAgent({})
  const first = await next(1)
  expect(first.summary).toContain('data labelled pii (get_customer in turn 1) to send')
  expect(await env.ptc.waits()).toMatchObject([{ wait: { type: 'approval', tool: 'send' } }])
  await env.ptc.approveCall(first.token, { remember: true })
  await env.ptc.approveCall((await next(2)).token)
  await env.ptc.denyCall((await next(3)).token, 'not twice')
  const result = await env.agentResult(handle)
  expect(result.answer).toBe('[denied] send was not approved: not twice')
  expect(sent).toEqual([secret, secret])
  await env.expectCleanEnd(handle)
})

it('a call that waits for the decision of a rule still waits after continue-as-new, and labels stay', async () => {
  const { tools, sent } = leakTools()
  const { approvals, next } = approvalRequests()
  const source = `
import asyncio
await get_customer()
async def wait():
    for _ in range(30):
        await get_customer()
sending = asyncio.create_task(send(text='x'))
await wait()
print(await sending)`
  const env = await TestEnvironment.start({
    tools,
    dataFlow: { rules: [{ labels: ['pii'], tools: ['send'], action: 'ask' }] },
    approvals,
    limits: { historyEvents: 60 },
    script: [turn(code(source)), turn(call('send', { text: secret })), answerResult],
  })
  const handle = await env.startAgent({})
  const { token } = await next(1)
  await vi.waitUntil(async () => (await env.ptc.handle(handle.workflowId).tree()).runIds.length > 1, fastPollOptions)
  expect(sent).toEqual([])
  await env.ptc.approveCall(token)
  await env.ptc.approveCall((await next(2)).token)
  expect(await env.agentResult(handle)).toMatchObject({ answer: 'sent', labels: { pii: 'get_customer in turn 1' } })
  expect(sent).toEqual(['x', secret])
  await env.expectCleanEnd(handle)
})

it('a denied answer is withheld with the reason, and its text is not in the live stream', async () => {
  const { tools } = leakTools()
  const stream = fileStream({ folder: await temporaryFolder() })
  const script = [turn(text('I look.'), call('get_customer')), turn(text(`It is ${secret}.`))]
  const env = await TestEnvironment.start({ tools, dataFlow: denyAnswer, script, stream })
  const handle = await env.startAgent({})
  const texts: string[] = []
  for await (const event of env.ptc.handle(handle.workflowId).stream()) {
    if (event.type === 'text.delta') texts.push(event.text)
  }
  const result = await env.agentResult(handle)
  expect(result).toMatchObject({
    status: 'withheld',
    answer: `a rule of the configuration denies ${toAnswer}`,
  })
  expect(result).not.toHaveProperty('labels')
  expect(texts.join('')).toBe('I look.')
  await env.expectCleanEnd(handle)
})

it.each([
  ['approves', 'answered', secret],
  ['denies', 'withheld', 'answer was not approved: no'],
] as const)('the answer waits for a person, who %s it', async (decision, status, answer) => {
  const { tools } = leakTools()
  const { approvals, next } = approvalRequests()
  const script = [turn(call('get_customer')), turn(text(secret))]
  const env = await TestEnvironment.start({ tools, dataFlow: askAnswer, approvals, script })
  const handle = await env.startAgent({})
  const { token, tool, arguments: args } = await next(1)
  expect({ tool, args }).toEqual({ tool: 'answer', args: { answer: secret } })
  expect(await env.ptc.waits()).toMatchObject([
    { wait: { type: 'approval', tool: 'answer', summary: toAnswer, arguments: { answer: secret } } },
  ])
  await env.workers.stop()
  await env.workers.start()
  await (decision === 'approves' ? env.ptc.approveCall(token) : env.ptc.denyCall(token, 'no'))
  expect(await env.agentResult(handle)).toMatchObject({ status, answer })
  await env.expectCleanEnd(handle)
  const { turns } = await env.ptc.handle(handle.workflowId).tree()
  expect(turns).toHaveLength(2)
})

it('the labels of a conversation stay from message to message, and a withheld message can be followed', async () => {
  const { tools, sent } = leakTools()
  const talk = await TestConversation.start({
    tools,
    dataFlow: { rules: [...denySend.rules, ...denyAnswer.rules] },
    script: [turn(call('get_customer')), turn(text(secret)), turn(call('send', { text: secret })), answerResult],
  })
  expect(await talk.conversation.ask('Look.')).toMatchObject({ status: 'withheld' })
  expect(await talk.conversation.ask('Send.')).toMatchObject({ status: 'withheld' })
  expect(JSON.stringify(talk.sentMessages)).toContain(refusal)
  expect(sent).toEqual([])
  await talk.close()
})

it('what code returns to a client is withheld, from a program, a session and a call', async () => {
  const { tools } = leakTools()
  const env = await TestEnvironment.start({ tools, dataFlow: denyAnswer })
  const program = await env.startProgram("print((await get_customer())['ssn'])")
  const reason = 'a rule of the configuration denies data labelled pii (get_customer in turn 0) to the answer'
  expect(await program.result()).toMatchObject({ outcome: { status: 'ok', output: `[withheld] ${reason}` } })
  const failing = await env.startProgram("raise ValueError((await get_customer())['ssn'])")
  const { outcome } = (await failing.result()) as { readonly outcome: object }
  expect(outcome).toMatchObject({ status: 'code_error', output: `[withheld] ${reason}`, error: `[withheld] ${reason}` })
  const session = `own-${env.taskQueue}`
  expect(await env.ptc.sessions.execute(session, "ssn = (await get_customer())['ssn']")).toMatchObject({
    outcome: { status: 'ok', output: '' },
  })
  const later = await env.ptc.sessions.execute(session, 'print(ssn)')
  expect(later.outcome.output).toContain('[withheld]')
  await env.ptc.sessions.close(session)
  const called = await env.ptc.startCall({ tool: 'get_customer', arguments: {} })
  expect(await called.result()).toMatchObject({ outcome: { status: 'denied', message: reason } })
})

it.each([
  ['by the result', (result: unknown) => ((result as { vip: boolean }).vip ? ['pii'] : []), true, true],
  [
    'by the result, which has none',
    (result: unknown) => ((result as { vip: boolean }).vip ? ['pii'] : []),
    false,
    false,
  ],
  [
    'by a function that throws',
    () => {
      throw new Error('broken')
    },
    false,
    true,
  ],
  ['by a function that returns something else', () => 'pii' as never, false, true],
] as const)('the labels of a result are given %s', async (_, labels, vip, isRefused) => {
  const { tools, sent } = leakTools({ labels, returns: { ssn: secret, vip } })
  const script = [turn(code('print(await get_customer())')), turn(call('send', { text: 'x' })), answerResult]
  const env = await TestEnvironment.start({ tools, dataFlow: denySend, script })
  const handle = await env.startAgent({})
  expect((await env.agentResult(handle)).answer).toBe(isRefused ? `[denied] ${refusal}` : 'sent')
  expect(sent).toEqual(isRefused ? [] : ['x'])
  const { turns } = await env.ptc.handle(handle.workflowId).tree()
  expect(turns[0]?.cells[0]?.calls).toMatchObject([{ tool: 'get_customer', status: 'ok' }])
  await env.expectCleanEnd(handle)
})

it('the audit log says what a rule refused, and a tool without a rule gets the data', async () => {
  const { tools, sent } = leakTools()
  const events: AuditEvent[] = []
  const sink = { write: (event: AuditEvent) => Promise.resolve(void events.push(event)) }
  const script = [turn(call('get_customer')), turn(call('send', { text: secret })), answerResult]
  const env = await TestEnvironment.start({ tools, dataFlow: denySend, audit: { sink }, script })
  await env.runAgent()
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'call.refused',
      tool: 'send',
      reason: 'data labelled pii (get_customer in turn 1) to send',
    }),
  )
  expect(JSON.stringify(events)).not.toContain(secret)
  const free = await TestEnvironment.start({ tools, dataFlow: denyAnswer, script })
  expect(await free.runAgent()).toMatchObject({ status: 'withheld' })
  expect(sent).toEqual([secret])
})

it('a rule by a pattern, and labels by a pattern, apply to every tool that matches; the first rule decides', async () => {
  const { tools, sent } = leakTools({ labels: null })
  const dataFlow: DataFlowOption = {
    labels: { 'get_*': ['internal'] },
    rules: [
      { labels: ['internal'], tools: ['send'], action: 'allow' },
      { labels: ['internal'], tools: ['*'], action: 'deny' },
    ],
  }
  const script = [
    turn(call('get_customer')),
    turn(call('send', { text: 'x' })),
    turn(call('get_customer')),
    answerResult,
  ]
  const env = await TestEnvironment.start({ tools, dataFlow, script })
  const { answer } = await env.runAgent()
  expect(sent).toEqual(['x'])
  expect(answer).toContain('denies data labelled internal (get_customer in turn 1) to get_customer')
})

it('the input of a run has its labels from the first call, of the model and of code', async () => {
  const { tools, sent } = leakTools({ labels: null })
  const dataFlow: DataFlowOption = {
    input: ['personal', 'unused'],
    rules: [{ labels: ['personal'], tools: ['send'], action: 'deny' }],
  }
  const source = "try: print(await send(text='x'))\nexcept ToolDenied as error: print(error)"
  const script = [turn(call('send', { text: 'x' })), turn(code(source)), answerResult]
  const env = await TestEnvironment.start({ tools, dataFlow, script })
  const denied = 'a rule of the configuration denies data labelled personal (the input of the run) to send'
  const result = await env.runAgent()
  expect(result).toMatchObject({ status: 'answered', answer: expect.stringContaining(denied) as string })
  expect(result.labels).toEqual({ personal: 'the input of the run' })
  expect(JSON.stringify(env.api.requests.at(1)?.body)).toContain(denied)
  expect((await env.runProgram(source)).outcome).toMatchObject({ output: `${denied}\n` })
  expect(sent).toEqual([])
})
