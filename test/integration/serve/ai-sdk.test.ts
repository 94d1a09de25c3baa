import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { expect, it } from 'vitest'
import { call, code, faulty, text, turn } from '../../support/script.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'
import { Deferred, tool } from '../../support/tools.js'

const question = (id: string, content: string): UIMessage => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text: content }],
})

function transportTo(url: string) {
  const transport = new DefaultChatTransport<UIMessage>({ api: `${url}/ai-sdk` })
  return {
    send: (chatId: string, message: UIMessage, trigger: 'submit-message' | 'regenerate-message' = 'submit-message') =>
      transport.sendMessages({ chatId, messages: [message], trigger, messageId: undefined, abortSignal: undefined }),
    resume: (chatId: string) => transport.reconnectToStream({ chatId }),
  }
}

async function messageOf(stream: ReadableStream<UIMessageChunk> | null): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined
  if (!stream) throw new Error('there is no stream')
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message
  return last
}

const textOf = (message: UIMessage | undefined) =>
  message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

it('answers useChat with text, code and calls, and again for a repeated request', async () => {
  const served = await ServeEnvironment.start({
    tools: [tool('ping', () => 'pong')],
    script: [turn(text('I call. '), code('print(await ping(n=1))')), turn(text('It said pong.')), turn(text('Twice.'))],
  })
  const { url } = await served.server()
  const chat = transportTo(url)
  const asked = question('q-1', 'What does it say?')
  const message = await messageOf(await chat.send(served.name, asked))
  expect(message).toMatchObject({ id: 'answer-q-1', metadata: { status: 'answered' } })
  expect(message?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'text', text: 'I call. ' },
    { type: 'dynamic-tool', toolName: 'execute_code', output: { output: 'pong\n' } },
    { type: 'dynamic-tool', toolName: 'ping', state: 'output-available', input: { summary: 'ping 1' } },
    { type: 'step-start' },
    { type: 'text', text: 'It said pong.', state: 'done' },
  ])
  expect(await messageOf(await chat.send(served.name, asked))).toEqual(message)
  expect(textOf(await messageOf(await chat.send(served.name, question('q-2', 'Again?'))))).toBe('Twice.')
  expect(served.env.api.requests).toHaveLength(3)
  expect(await chat.resume(served.name)).toBeNull()
  expect(await chat.resume('no-such-chat')).toBeNull()
})

it('resumes at another server from the beginning of the message that is being worked on', async () => {
  const release = new Deferred()
  const served = await ServeEnvironment.start({
    tools: [tool('wait', () => release.promise.then(() => 'waited'))],
    script: [turn(text('First.')), turn(text('I wait. '), call('wait')), turn(text('Done.'))],
  })
  const first = await served.server()
  await messageOf(await transportTo(first.url).send(served.name, question('q-1', 'One.')))
  const stream = await transportTo(first.url).send(served.name, question('q-2', 'Two.'))
  const reader = stream.getReader()
  for (;;) {
    const { value } = await reader.read()
    if (value?.type === 'tool-input-available') break
  }
  await first.close()
  const second = await served.server()
  const resumed = messageOf(await transportTo(second.url).resume(served.name))
  release.resolve()
  expect(textOf(await resumed)).toBe('I wait. Done.')
  expect(await resumed).toMatchObject({ id: 'answer-q-2' })
})

it('reports that a message failed, and rejects unsupported requests', async () => {
  const served = await ServeEnvironment.start({
    script: [faulty([{ type: 'status', status: 401, attempt: 'every' }], turn(text('never')))],
  })
  const { url } = await served.server()
  const chat = transportTo(url)
  await expect(messageOf(await chat.send(served.name, question('q-1', 'Hi.')))).rejects.toThrow('MODEL_AUTH')
  await expect(chat.send(served.name, question('q-1', 'Hi.'), 'regenerate-message')).rejects.toThrow(
    'RUN_INPUT_INVALID',
  )
  const base64 = Buffer.from('<svg/>').toString('base64')
  for (const [mediaType, url] of [
    ['image/svg+xml', `data:image/svg+xml;base64,${base64}`],
    ['image/png', `data:image/png;base64,${base64}`],
    ['image/png', 'https://example.com/cat.png'],
  ] as const) {
    const parts = [{ type: 'file', mediaType, url } as const]
    await expect(chat.send(served.name, { id: 'q-2', role: 'user', parts })).rejects.toThrow('RUN_INPUT_INVALID')
  }
  await expect(chat.send('../a', question('q-3', 'Hi.'))).rejects.toThrow('RUN_INPUT_INVALID')
})

it('accepts images and PDFs, in a chat with large messages', async () => {
  const served = await ServeEnvironment.start({ script: [turn(text('A cat.')), turn(text('Yes.'))] })
  const { url } = await served.server()
  const transport = new DefaultChatTransport<UIMessage>({ api: `${url}/ai-sdk` })
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(3_000_000, 'pixel')])
  const data = png.toString('base64')
  const file = {
    type: 'file',
    mediaType: 'image/png',
    filename: 'cat.png',
    url: `data:image/png;base64,${data}`,
  } as const
  const first: UIMessage = { ...question('q-1', 'What is it?'), parts: [file, { type: 'text', text: 'What is it?' }] }
  const send = async (messages: UIMessage[]) =>
    messageOf(
      await transport.sendMessages({
        chatId: served.name,
        messages,
        trigger: 'submit-message',
        messageId: undefined,
        abortSignal: undefined,
      }),
    )
  const answer = await send([first])
  expect(textOf(answer)).toBe('A cat.')
  expect(served.env.api.requests[0]?.body).toMatchObject({
    messages: [
      {
        content: [
          { type: 'image', source: { data } },
          { type: 'text', text: 'What is it?' },
        ],
      },
    ],
  })
  expect(textOf(await send([first, ...(answer ? [answer] : []), question('q-2', 'Sure?')]))).toBe('Yes.')
})
