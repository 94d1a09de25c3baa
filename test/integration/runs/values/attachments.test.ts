import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import proto from '@temporalio/proto'
import { expect, it } from 'vitest'
import { storeAttachments } from '../../../../src/client/start/store-attachments.js'
import { collectGarbage } from '../../../../src/values/garbage/collect-garbage.js'
import { LocalStore } from '../../../../src/values/local/local-store.js'
import { Values } from '../../../../src/values/values.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { temporaryFolder } from '../../../support/folders.js'
import { answerResult, call, faulty, text, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'
import { isolateTests, startServer } from '../../models/harness.js'
import { helloReply, startChatStream } from '../../models/openai-harness.js'

isolateTests()

const { History } = proto.temporal.api.history.v1
// Small enough for a history, if attachments were stored there.
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(600, 'pixel')])
const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(400_000, 'page')])
const base64 = (bytes: Buffer) => bytes.toString('base64')

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64(png) } }
const document = {
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: base64(pdf) },
  title: 'Q3.pdf',
}

const bytesOf = (histories: readonly Parameters<typeof History.encode>[0][]) =>
  Buffer.concat(histories.map((history) => History.encode(history).finish()))

it('the model sees images and PDFs of a question in each turn, and no history has their bytes', async () => {
  const env = await TestEnvironment.start({
    tools: [tool('ping', () => 'pong')],
    script: [turn(call('ping')), answerResult],
  })
  const file = join(await temporaryFolder(), 'Q3.pdf')
  await writeFile(file, pdf)
  const attachments = [{ data: png }, { file }]
  const run = await env.ptc.startAgent({ question: 'What is it?', attachments })
  expect(await run.result()).toMatchObject({ status: 'answered', answer: 'pong' })
  const sent = env.api.requests.map(({ body }) => (body as { messages: readonly object[] }).messages[0])
  expect(sent).toHaveLength(2)
  for (const first of sent) {
    expect(first).toMatchObject({ role: 'user', content: [image, document, { text: 'What is it?' }] })
  }
  const handle = env.client.workflow.getHandle(run.workflowId)
  await env.expectCleanEnd(handle)
  const histories = await env.executionHistories(handle)
  for (const bytes of [png, pdf]) {
    expect(bytesOf(histories).includes(base64(bytes).slice(0, 100))).toBe(false)
    expect(bytesOf(histories).includes(base64(bytes).slice(-100))).toBe(false)
  }

  // The stored messages refer to the values, which are therefore in use while the run is kept.
  const roots = async function* () {
    yield bytesOf(histories)
  }
  const collect = { roots, unusedSince: Date.now() + 60_000, dryRun: false, signal: new AbortController().signal }
  await collectGarbage({ store: new LocalStore(env.valuesDirectory), ...collect })
  const values = new Values({ store: new LocalStore(env.valuesDirectory) })
  const [stored] = await storeAttachments(env.client, [{ data: png }])
  const { removed } = await collectGarbage({ store: values.valueStore, ...collect })
  expect(removed.count).toBe(0)
  expect(await values.load(stored?.value ?? null, 'a test', collect.signal)).toBe(base64(png))
})

it('a conversation takes back a message whose image the model refuses, and keeps the others for later turns', async () => {
  const refused = { type: 'status', status: 400, attempt: 1, error: { message: 'Could not process image' } } as const
  const talk = await TestConversation.start({
    script: [
      { ...faulty([refused], turn(text('unused'))), match: { lastUserText: 'What is it?' } },
      turn(text('A square.')),
      turn(text('Yes.')),
      turn(text('No.')),
    ],
  })
  const { conversation } = talk
  const attachments = [{ data: base64(png) }]
  expect(await conversation.ask('What is it?', { attachments })).toMatchObject({ status: 'failed', isTakenBack: true })
  expect(await conversation.ask('What is this?', { attachments })).toMatchObject({ answer: 'A square.' })
  expect(await conversation.ask('Sure?')).toMatchObject({ answer: 'Yes.' })
  expect(talk.sentMessages[0]).toMatchObject({ role: 'user', content: [image, { text: 'What is this?' }] })
  expect(JSON.stringify(talk.sentMessages)).not.toContain('What is it?')
  await expect(conversation.ask('x', { attachments: [{ data: 'eA==' }] })).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
    message: expect.stringContaining('attachment 1: it is none of') as string,
  })
  const history = await conversation.history()
  expect(history[0]).toEqual({ role: 'user', content: [image, text('What is this?')] })
  // In the format of the API, for another conversation.
  const copy = talk.env.ptc.conversation(`${conversation.name}-copy`, { messages: history })
  expect(await copy.ask('Again?')).toMatchObject({ answer: 'No.' })
  await copy.close()
  await talk.close()
})

it('a compatible server gets attachments as parts of the message', async () => {
  const server = await startServer((response) => {
    startChatStream(response)
    response.end(helloReply)
  })
  const env = await TestEnvironment.start({ providers: { local: { kind: 'openai', baseURL: server.url } } })
  const attachments = [{ data: png }, { data: pdf, name: 'Q3.pdf' }]
  const run = await env.ptc.startAgent({ question: 'What is it?', attachments, model: 'local/m' })
  expect(await run.result()).toMatchObject({ answer: 'Hello' })
  expect(server.requests[0]?.body['messages']).toMatchObject([
    { role: 'system' },
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: `data:image/png;base64,${base64(png)}` } },
        { type: 'file', file: { filename: 'Q3.pdf', file_data: `data:application/pdf;base64,${base64(pdf)}` } },
        { type: 'text', text: 'What is it?' },
      ],
    },
  ])
})

it('a run whose attachment is in no store fails at once', async () => {
  const env = await TestEnvironment.start()
  const handle = await env.startAgent({ attachments: [{ data: png }] as never })
  await expect(env.ptc.handle(handle.workflowId).result()).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
    message: expect.stringContaining('it is not in the value store') as string,
  })
})
