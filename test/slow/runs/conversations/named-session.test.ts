import { describe, expect, it, vi } from 'vitest'
import type { ApprovalRequest } from '../../../../src/config/options/approvals.js'
import { defineAgent } from '../../../../src/index.js'
import type { ModelTool } from '../../../../src/models/provider.js'
import { heldTool, isNewNote, startBound } from '../../../support/environment/bound-conversation.js'
import { waitForEvents } from '../../../support/environment/waits.js'
import { fastPollOptions } from '../../../support/poll-options.js'
import { uniqueName } from '../../../support/temporal/shared-server.js'
import { answerResult, code, text, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

it('a conversation shares variables with all users of its named session, which outlives the conversation', async () => {
  const { talk, conversation, books } = await startBound({
    tools: [tool('ping', () => 'pong')],
    script: [
      turn(code('total = 1\nprint(await ping())')),
      answerResult,
      turn(code('total += 1\nprint(total)')),
      answerResult,
    ],
  })
  expect(await conversation.ask('Begin.')).toMatchObject({
    status: 'answered',
    answer: `pong\n${isNewNote(books)}`,
    cells: 1,
    toolCalls: 1,
  })
  expect(await books.outputOf('print(total)\ntotal = 10')).toBe('1\n')
  expect(await conversation.ask('Go on.')).toMatchObject({ status: 'answered', answer: '11' })
  const { turns, totals } = await talk.env.ptc.handle(conversation.workflowId).tree()
  expect(totals).toMatchObject({ turns: 4, cells: 2, toolCalls: 1 })
  const owner = { workflowId: books.handle.workflowId }
  expect(turns.flatMap(({ cells }) => cells)).toMatchObject([
    { number: 1, status: 'ok', code: 'total = 1\nprint(await ping())', output: 'pong\n', owner },
    { number: 2, status: 'ok', output: '11\n', owner: { ...owner, toolCalls: 0 } },
  ])
  expect(JSON.stringify(talk.env.api.requests.at(-1)?.body)).toContain(`The sandbox is session ${books.name}`)
  await talk.close()
  expect(await books.outputOf('print(total)')).toBe('11\n')
  await books.close()
})

it('a named session executes the cells of two conversations and of a program one after the other', async () => {
  const { hold, called, release } = heldTool()
  const add = 'before = total\nawait hold()\ntotal = before + 1\nprint(total)'
  const { talk, conversation, books } = await startBound({
    tools: [hold],
    script: {
      conversations: ['one', 'two'].map((question) => ({
        match: { firstUserText: { equals: question } },
        turns: [turn(code(add)), answerResult],
      })),
    },
  })
  await books.outputOf('total = 0')
  const other = talk.env.ptc.conversation(uniqueName('talk'), { session: books.name })
  talk.env.sessionHandle(other.name, other.workflowId)
  const first = conversation.ask('one')
  await called
  const second = other.ask('two')
  await waitForEvents(books.handle, 2, ({ workflowExecutionSignaledEventAttributes: signal }) => Boolean(signal))
  const third = books.execute('total += 1\nprint(total)')
  await expect.poll(() => books.acceptedUpdateCount()).toBe(2)
  release()
  expect(await first).toMatchObject({ answer: '1' })
  expect(await second).toMatchObject({ answer: '2' })
  expect(await third).toMatchObject({ outcome: { output: '3\n' } })
  await other.close()
  await talk.close()
  await books.close()
})

describe('a session that ends', () => {
  it('a session that ends between two messages: the next one starts a new session, and the model is told', async () => {
    const { talk, conversation, books } = await startBound({
      script: [turn(code('x = 1')), answerResult, turn(code('print("x" in globals())')), answerResult],
    })
    await conversation.ask('Begin.')
    await books.close()
    expect(await conversation.ask('Go on.')).toMatchObject({ answer: `False\n${isNewNote(books)}` })
    await talk.close()
    await books.close()
  })

  it('a session that ends in a cell: the model is told, and the next code runs in a new session', async () => {
    const { hold, called } = heldTool()
    const { talk, conversation, books } = await startBound({
      tools: [hold],
      script: [turn(code('x = 1\nawait hold()')), turn(code('print("x" in globals())')), answerResult],
    })
    const asked = conversation.ask('Begin.')
    await called
    await books.close()
    expect(await asked).toMatchObject({ status: 'answered', answer: `False\n${isNewNote(books)}`, cells: 2 })
    const [, , results] = talk.sentMessages
    expect(results?.content).toMatchObject([
      { is_error: true, content: expect.stringMatching(/^\[lost\] session .* was closed before the code ended/) },
    ])
    await talk.close()
    await books.close()
  })
})

describe('an interruption', () => {
  it('an interruption stops the code of the conversation, and the session keeps its variables', async () => {
    const { hold, called } = heldTool()
    const { talk, conversation, books } = await startBound({
      tools: [hold],
      script: [turn(code('x = 7\nprint("begun")\nawait hold()')), answerResult],
    })
    const asked = conversation.ask('Begin.')
    await called
    await conversation.interrupt('code')
    const { status, answer } = await asked
    expect(status).toBe('answered')
    expect(answer).toMatch(/^begun[^]*Interrupted: the code was stopped/)
    expect(await books.outputOf('print(x)')).toBe('7\n')
    await talk.close()
    await books.close()
  })
})

it('a call waits for an approval in the session over continue-as-new, and the conversation lists it', async () => {
  const requests: ApprovalRequest[] = []
  const pay = tool('pay', () => 'paid', { effect: 'once', approval: 'always' })
  const { talk, conversation, books } = await startBound({
    tools: [pay],
    approvals: { onRequest: (request) => void requests.push(request) },
    limits: { historyEvents: 100 },
    script: [turn(code('print(await pay())')), answerResult, turn(text('second'))],
  })
  const asked = await conversation.send('Pay.')
  await vi.waitUntil(() => requests.length === 1, fastPollOptions)
  const waits = () => talk.env.ptc.waits({ run: conversation.workflowId })
  const waiting = { type: 'approval', tool: 'pay', token: requests[0]?.token }
  await expect.poll(waits).toMatchObject([{ wait: waiting }])
  const second = await conversation.send('Then say second.')
  const executions = async () => (await talk.env.executionHistories(talk.handle)).length
  while ((await executions()) === 1) await talk.handle.signal('no signal of a conversation')
  await talk.env.ptc.approveCall(waiting.token ?? '')
  expect(await asked.answer()).toMatchObject({ status: 'answered' })
  expect(await second.answer()).toMatchObject({ answer: 'second' })
  const [first] = (await talk.env.ptc.handle(conversation.workflowId).tree()).turns
  expect(first?.cells).toMatchObject([{ status: 'ok', output: 'paid\n', owner: { toolCalls: 1 } }])
  await talk.close()
  await books.close()
})

describe('wrong input', () => {
  it('invalid input for a named session is refused', async () => {
    const { talk, books } = await startBound({ script: [turn(text('unused'))] })
    const invalid = { code: 'RUN_INPUT_INVALID' }
    expect(() => talk.another({ session: 'other:books' })).toThrow("can't be the name of a session")
    await expect(talk.another({ session: books.name, sandbox: 'anthropic' }).ask('1')).rejects.toMatchObject(invalid)
    await expect(talk.another({ session: books.name, input: 1 }).ask('1')).rejects.toMatchObject(invalid)
    const program = await talk.env.client.workflow.start('program', {
      workflowId: uniqueName('program'),
      taskQueue: talk.env.taskQueue,
      args: [{ source: 'print(1)', session: books.name }],
    })
    await expect(program.result()).rejects.toMatchObject({ cause: { cause: { type: 'RUN_INPUT_INVALID' } } })
    await expect(books.handle.describe()).rejects.toThrow()
  })

  it.each([
    ['context', { context: { tenant: 'b' } }, { context: { tenant: 'a' } }, 'was started with another context'],
    ['sandbox', {}, { sandbox: 'docker' }, 'runs in wasm, not in docker'],
  ] as const)('a session with another %s executes nothing, and the model is told', async (_, before, options, why) => {
    const { talk, conversation, books } = await startBound(
      { script: [turn(code('print(1)')), turn(text('refused'))] },
      options,
    )
    await books.execute('x = 1', before)
    expect(await conversation.ask('Begin.')).toMatchObject({ answer: 'refused' })
    expect(talk.sentMessages.at(-1)?.content).toMatchObject([
      { is_error: true, content: `[denied] session ${books.name} ${why}` },
    ])
    await talk.close()
    await books.close()
  })
})

it('a conversation in a named session offers sub-agents to the model, and not to its code', async () => {
  const helper = defineAgent({ name: 'helper', description: 'Helps.', instructions: 'Help.' })
  const lead = defineAgent({ name: 'lead', instructions: 'Lead.', agents: [helper] })
  const { talk, conversation } = await startBound(
    { agents: [helper, lead], script: [turn(text('Done.'))] },
    { agent: 'lead' },
  )
  await conversation.ask('Begin.')
  const [tools] = talk.env.api.requests.map(({ body }) => (body as { readonly tools: readonly ModelTool[] }).tools)
  expect(tools?.map(({ name }) => name)).toContain('helper')
  expect(tools?.find(({ name }) => name === 'execute_code')?.description).not.toContain('helper')
  await talk.close()
})
