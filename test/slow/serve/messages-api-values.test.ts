import type Anthropic from '@anthropic-ai/sdk'
import { expect, it } from 'vitest'
import type { AuditEvent } from '../../../src/audit/index.js'
import { code, faulty, text, turn } from '../../support/script.js'
import { codeTool, MessagesClient, officialSdk, toolUses } from '../../support/serve/messages-client.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'
import { tool } from '../../support/tools.js'

const ask: Anthropic.Tool = {
  name: 'ask',
  input_schema: { type: 'object', properties: { text: { type: 'string' } } },
  allowed_callers: ['code_execution_20260120'],
}

it('a container has large code, arguments, results and output, and an image', async () => {
  const source = `found = await ask(text="x" * 100_000)\nprint(len(found), "y" * 15_000)\n# ${'z'.repeat(60_000)}`
  const served = await ServeEnvironment.start({ script: [turn(code(source)), turn(text('Large.'))] })
  const client = new MessagesClient(served, (await served.server()).url, [ask])
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  client.params.max_tokens = 60_000
  client.messages.push({
    role: 'user',
    content: [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
      { type: 'text', text: 'What is this?' },
    ],
  })
  client.messages.push({ role: 'assistant', content: [] })
  const paused = await client.repeat()
  const [run] = paused.content
  expect(run?.type === 'server_tool_use' && JSON.stringify(run.input) === JSON.stringify({ code: source })).toBe(true)
  const [asked] = toolUses(paused)
  expect(asked && JSON.stringify(asked.input) === `{"text":"${'x'.repeat(100_000)}"}`).toBe(true)
  const [output] = (await client.answer(paused, () => 'r'.repeat(700_000))).content
  expect(output).toMatchObject({ content: { stdout: expect.stringMatching(/^700000 y{15000}\n$/) as string } })
  expect(served.env.api.requests[0]?.body).toMatchObject({
    messages: [{ content: [{ type: 'image', source: { data: png } }, { text: 'What is this?' }] }],
  })
})

it('never runs a tool of the worker in place of a client tool with the same name', async () => {
  let calls = 0
  const own = tool('ask', () => (calls += 1), { execution: 'local' })
  const served = await ServeEnvironment.start({
    tools: [own],
    script: [turn(code('print(await ask(text="a"), await ask(text="b"))')), turn(text('Done.'))],
  })
  const client = new MessagesClient(served, (await served.server()).url, [ask])
  const first = await client.ask('Go.')
  const second = await client.answer(first, () => 'one')
  const done = await client.answer(second, () => 'two')
  expect(done.content[0]).toMatchObject({ content: { stdout: 'one two\n' } })
  expect(calls).toBe(0)
})

it('closes a new container whose client has left', async () => {
  const slow = { ...turn(text('Too late.')), msPerChunk: 60_000 }
  const served = await ServeEnvironment.start({ script: [slow] })
  const { url } = await served.server()
  const body = {
    model: 'scripted',
    max_tokens: 100,
    tools: [codeTool],
    messages: [{ role: 'user' as const, content: 'Hi.' }],
  }
  const leaving = new AbortController()
  const left = officialSdk(url).messages.create(body, { signal: leaving.signal })
  await expect.poll(() => served.env.api.requests.length, { timeout: 60_000 }).toBe(1)
  leaving.abort()
  await expect(left).rejects.toThrow('aborted')
  const query = `TaskQueue = '${served.env.taskQueue}' and ExecutionStatus = 'Running'`
  await expect.poll(async () => (await served.env.client.workflow.count(query)).count, { timeout: 60_000 }).toBe(0)
})

it('ends a Messages API stream with the error of the model', async () => {
  const served = await ServeEnvironment.start({
    script: [faulty([{ type: 'status', status: 401, attempt: 'every' }], turn(text('never')))],
  })
  const { url } = await served.server()
  const stream = officialSdk(url).messages.stream({
    model: 'scripted',
    max_tokens: 100,
    tools: [codeTool],
    messages: [{ role: 'user', content: 'Hi.' }],
  })
  await expect(stream.finalMessage()).rejects.toMatchObject({ error: { error: { type: 'api_error' } } })
})

it('reports the calls of clients to the audit log of a worker without tools', async () => {
  const events: AuditEvent[] = []
  const served = await ServeEnvironment.start({
    script: [turn(code('print(await ask(text="a"))')), turn(text('Done.'))],
    audit: { sink: { write: (event: AuditEvent) => Promise.resolve(void events.push(event)) } },
  })
  const client = new MessagesClient(served, (await served.server()).url, [ask])
  await client.answer(await client.ask('Go.'), () => 'one')
  const ofCall = events.filter((event) => 'tool' in event && event.tool === 'ask').map(({ type }) => type)
  expect(ofCall).toEqual(['call.started', 'call.deferred', 'call.decided'])
})

it('waits over continue-as-new, and repeats a response of an earlier execution', async () => {
  const source = 'total = 0\nfor n in range(12):\n  total += int(await ask(text=str(n)))\nprint(total)'
  const served = await ServeEnvironment.start({
    script: [turn(code(source)), turn(text('Done.')), turn(code('print(total + 1)')), turn(text('Again.'))],
    limits: { historyEvents: 100 },
  })
  const client = new MessagesClient(served, (await served.server()).url, [ask])
  let response = await client.ask('Go.')
  for (let n = 0; n < 12; n += 1) {
    expect(toolUses(response)).toMatchObject([{ input: { text: String(n) } }])
    response = await client.answer(response, () => '2')
    if (n === 2) expect(await client.repeat()).toEqual(response)
  }
  expect(response.content[0]).toMatchObject({ content: { stdout: '24\n' } })
  expect((await client.ask('More.')).content[1]).toMatchObject({ content: { stdout: '25\n' } })
  const { runIds } = await served.ptc.handle(served.ptc.conversation(client.container ?? '').workflowId).tree()
  expect(runIds.length).toBeGreaterThan(2)
  expect(served.env.api.requests).toHaveLength(4)
})
