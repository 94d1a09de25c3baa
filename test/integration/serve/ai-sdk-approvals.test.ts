import {
  AbstractChat,
  type ChatState,
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../src/index.js'
import { answerResult, call, code, text, turn } from '../../support/script.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'

/** The state of `useChat` without React. */
class State implements ChatState<UIMessage> {
  status: ChatState<UIMessage>['status'] = 'ready'
  error: Error | undefined
  messages: UIMessage[] = []
  pushMessage = (message: UIMessage): void => void (this.messages = [...this.messages, message])
  popMessage = (): void => void (this.messages = this.messages.slice(0, -1))
  replaceMessage = (index: number, message: UIMessage): void =>
    void (this.messages = this.messages.map((each, at) => (at === index ? structuredClone(message) : each)))
  snapshot = <Value>(value: Value): Value => structuredClone(value)
}

/** A front end that sends its decisions automatically, as the documentation of the AI SDK describes. */
class Chat extends AbstractChat<UIMessage> {
  /** Number of sent requests. */
  requests = 0

  constructor(url: string, id: string) {
    const transport = new DefaultChatTransport<UIMessage>({
      api: `${url}/ai-sdk`,
      fetch: (...args) => {
        this.requests += 1
        return fetch(...args)
      },
    })
    const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses
    super({ id, transport, state: new State(), sendAutomaticallyWhen })
  }

  get approvals() {
    const parts = this.messages.flatMap((message) => message.parts.filter(isToolUIPart))
    return parts.flatMap((part) => (part.state === 'approval-requested' ? [part] : []))
  }

  /** Requests for calls that code makes at once arrive in any order. */
  get tools() {
    const parts = this.lastMessage?.parts.flatMap((part) => (part.type === 'dynamic-tool' ? [part] : [])) ?? []
    const order = (part: unknown): string => JSON.stringify(part)
    const tools = parts.map(({ toolName, state, input }) => [toolName, state, input] as const)
    return tools.toSorted(([, , one], [, , other]) => order(one).localeCompare(order(other)))
  }

  get text(): string {
    return this.lastMessage?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('') ?? ''
  }
}

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ euros: z.number() }),
  output: z.string(),
  effect: 'once',
  approval: 'always',
  summary: ({ euros }) => `pay ${euros}`,
  allowedCallers: ['direct', 'code_execution'],
  run: ({ euros }) => `paid ${euros}`,
})

const source = `
import asyncio
print(*await asyncio.gather(pay(euros=1), pay(euros=2), return_exceptions=True), sep="; ")
print(await pay(euros=3))`

it('requests approvals of calls of code, and continues with the decisions of the front end', async () => {
  const served = await ServeEnvironment.start({
    tools: [pay],
    script: [turn(text('I pay. '), code(source)), answerResult],
  })
  const { url } = await served.server()
  const chat = new Chat(url, served.name)
  await chat.sendMessage({ text: 'Pay.' })
  expect(chat.status).toBe('ready')
  expect(chat.lastMessage?.metadata).toEqual({ status: 'waits_for_approval' })
  expect(chat.tools).toEqual([
    ['execute_code', 'input-available', { code: source }],
    ['pay', 'approval-requested', { summary: 'pay 1' }],
    ['pay', 'approval-requested', { summary: 'pay 2' }],
  ])
  const approvalOf = (summary: string) =>
    chat.approvals.find(({ input }) => JSON.stringify(input) === JSON.stringify({ summary }))?.approval.id ?? ''
  await chat.addToolApprovalResponse({ id: approvalOf('pay 1'), approved: true })
  expect(chat.requests).toBe(1)
  await chat.addToolApprovalResponse({ id: approvalOf('pay 2'), approved: false, reason: 'no money' })
  await expect.poll(() => chat.approvals.length).toBe(1)
  await expect.poll(() => chat.status).toBe('ready')
  expect(chat.tools).toEqual([
    ['execute_code', 'input-available', { code: source }],
    ['pay', 'output-available', { summary: 'pay 1' }],
    ['pay', 'output-denied', { summary: 'pay 2' }],
    ['pay', 'approval-requested', { summary: 'pay 3' }],
  ])
  await chat.addToolApprovalResponse({ id: approvalOf('pay 3'), approved: true })
  await expect.poll(() => chat.lastMessage?.metadata).toEqual({ status: 'answered' })
  await expect.poll(() => chat.status).toBe('ready')
  expect(chat.text).toMatch(/^I pay\. paid 1; .*no money\npaid 3$/)
  expect(chat.tools.map(([name, state]) => `${name} ${state}`)).toEqual([
    'execute_code output-available',
    'pay output-available',
    'pay output-denied',
    'pay output-available',
  ])
  expect(chat.messages).toHaveLength(2)
  expect(chat.requests).toBe(3)
})

it('requests the approval of a direct call, and again for a front end that resumes at another server', async () => {
  const served = await ServeEnvironment.start({
    tools: [pay],
    script: [turn(call('pay', { euros: 4 })), answerResult],
  })
  const [first, second] = [await served.server(), await served.server()]
  const left = new Chat(first.url, served.name)
  await left.sendMessage({ text: 'Pay.' })
  expect(left.tools).toEqual([['pay', 'approval-requested', { summary: 'pay 4' }]])
  const chat = new Chat(second.url, served.name)
  chat.messages = left.messages.slice(0, 1)
  await chat.resumeStream()
  expect(chat.tools).toEqual([['pay', 'approval-requested', { summary: 'pay 4' }]])
  await chat.addToolApprovalResponse({ id: chat.approvals[0]?.approval.id ?? '', approved: true })
  await expect.poll(() => chat.lastMessage?.metadata).toEqual({ status: 'answered' })
  expect(chat.text).toBe('paid 4')
  // The front end that left decides late. The call is not made again, and the front end gets the same end.
  await left.addToolApprovalResponse({ id: left.approvals[0]?.approval.id ?? '', approved: false, reason: 'late' })
  await expect.poll(() => left.lastMessage?.metadata).toEqual({ status: 'answered' })
  expect(left.text).toBe('paid 4')
  expect(served.env.api.requests).toHaveLength(2)
})

it('rejects an answer without a decision, and ids that are not of an approval', async () => {
  const served = await ServeEnvironment.start({ script: [turn(text('Hi.'))] })
  const { url } = await served.server()
  const post = async (part: object): Promise<unknown> => {
    const messages = [{ id: 'answer-q', role: 'assistant', parts: [part] }]
    const body = JSON.stringify({ id: served.name, messages, trigger: 'submit-message' })
    const response = await fetch(`${url}/ai-sdk`, { method: 'POST', body })
    return { status: response.status, body: await response.json() }
  }
  const invalid = { status: 400, body: { error: { code: 'RUN_INPUT_INVALID' } } }
  expect(await post({ type: 'text', text: 'Hi.' })).toMatchObject(invalid)
  const responded = { type: 'dynamic-tool', state: 'approval-responded', approval: { id: '../x', approved: true } }
  expect(await post(responded)).toMatchObject(invalid)
})
