import { expect, it } from 'vitest'
import { call, code, text, turn } from '../../support/script.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'
import { readUntil } from '../../support/serve/server-sent-events.js'
import { shownText } from '../../support/stream/shown-text.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { Deferred, tool } from '../../support/tools.js'

const answer = 'The travel budget was exceeded by Ada, Lin and Grace.'

/** A tool that returns when the test opens the gate. */
function gate() {
  const called = new Deferred()
  const opened = new Deferred()
  const wait = tool('wait', async () => {
    called.resolve()
    await opened.promise
    return 'waited'
  })
  return { wait, called: called.promise, open: () => opened.resolve() }
}

it('streams the work on a message, and continues at another server after Last-Event-ID without duplicates', async () => {
  const { wait, open } = gate()
  const served = await ServeEnvironment.start({
    tools: [wait],
    script: [turn(text('I look. '), code('print(await wait())')), turn(text(answer))],
  })
  const first = await served.server()
  const accepted = await first.post('/messages', { text: 'Who?', id: 'm-1' })
  expect(accepted).toEqual({ status: 202, body: { id: 'm-1', stream: `/conversations/${served.name}/stream` } })
  const before = await readUntil(await first.stream(), 'call.started')
  expect(before.find(({ event }) => event.type === 'turn.started')?.event).toMatchObject({ turn: 1, message: 'm-1' })
  await first.close()
  open()
  const second = await served.server()
  expect(await second.get('/messages/m-1')).toMatchObject({ status: 200, body: { status: 'answered', answer } })
  const closing = second.post('/close')
  const after = await readUntil(await second.stream(before.at(-1)?.id), 'end')
  expect(await closing).toMatchObject({ status: 200, body: { messages: 1, turns: 2 } })
  const resumed = [...before, ...after].map(({ id }) => id)
  const all = await readUntil(await (await served.server()).stream(), 'end')
  expect(resumed).toEqual(all.map(({ id }) => id))
  expect(all.every(({ id, event }) => id === event.offset)).toBe(true)
  expect(shownText(all.map(({ event }) => event))).toBe(`I look. ${answer}`)
})

it('works once on a message that is posted again, and has status, history and answers', async () => {
  const served = await ServeEnvironment.start({ script: [turn(text('one'))] })
  const [server, other] = [await served.server(), await served.server()]
  const message = { text: 'Hi.', id: 'delivery-7', context: { user: 'ann' } }
  const posted = await Promise.all([server.post('/messages?wait', message), other.post('/messages?wait', message)])
  expect(posted).toMatchObject([
    { status: 200, body: { answer: 'one', message: 1, isNew: true } },
    { status: 200, body: { answer: 'one', message: 1, isNew: true } },
  ])
  expect(served.env.api.requests).toHaveLength(1)
  expect(await server.post('/messages', { text: 'Hi.', context: { user: 'eve' } })).toMatchObject({
    status: 400,
    body: { error: { code: 'RUN_INPUT_INVALID' } },
  })
  const user = (content: string) => ({ role: 'user', content: [text(content)] })
  expect(await other.get('/history')).toEqual({
    status: 200,
    body: [user('Hi.'), { role: 'assistant', content: [text('one')] }],
  })
  expect(await server.get()).toMatchObject({
    status: 200,
    body: { state: 'waiting', messages: 1, message: null, waitingCalls: 0 },
  })
  const listed = (await (await fetch(`${server.url}/conversations`)).json()) as readonly { readonly name: string }[]
  expect(Array.isArray(listed)).toBe(true)
  expect(await server.post('/reset')).toEqual({ status: 204, body: undefined })
  expect(await server.get('/history')).toEqual({ status: 200, body: [] })
  expect(await server.post('/reset', { messages: [user('x')] })).toMatchObject({ status: 400 })
  // For the model, it is the first message.
  expect(await server.post('/messages?wait', { text: 'Again.' })).toMatchObject({ body: { answer: 'one', message: 2 } })
})

it('serves requests that steer and interrupt the work on a message', async () => {
  const { wait, called, open } = gate()
  const hanging = new Deferred()
  const hang = tool('hang', (_input, { signal }) => {
    hanging.resolve()
    return new Promise((_, reject) => signal.addEventListener('abort', reject))
  })
  const served = await ServeEnvironment.start({
    tools: [wait, hang],
    script: [turn(call('wait')), turn(text('both')), turn(call('hang'))],
  })
  const server = await served.server()
  await server.post('/messages', { text: 'Look for A.', id: 'a' })
  await called
  expect(await server.get()).toMatchObject({ body: { state: 'working', message: 'a' } })
  expect(await server.post('/messages', { text: 'And for B.', id: 'b', steer: true })).toMatchObject({ status: 202 })
  open()
  expect(await server.get('/messages/b')).toMatchObject({ body: { answer: 'both', joined: 1 } })
  await server.post('/messages', { text: 'Wait.', id: 'c' })
  await hanging.promise
  expect(await server.get()).toMatchObject({ body: { message: 'c' } })
  expect(await server.post('/interrupt')).toEqual({ status: 204, body: undefined })
  expect(await server.get('/messages/c')).toMatchObject({ body: { status: 'interrupted' } })
  await served.ptc.conversation(served.name).close()
  expect(await server.post('/interrupt')).toMatchObject({
    status: 409,
    body: { error: { code: 'CONVERSATION_CLOSED' } },
  })
  expect(await server.get()).toMatchObject({ status: 409 })
})

it('rejects requests about missing conversations and messages', async () => {
  const served = await ServeEnvironment.start({ script: [turn(text('one'))] })
  const server = await served.server()
  const missing = { status: 404, body: { error: { code: 'CONVERSATION_NOT_FOUND' } } }
  for (const path of ['', '/history', '/stream', '/messages/x']) expect(await server.get(path)).toMatchObject(missing)
  for (const path of ['/interrupt', '/reset', '/close']) expect(await server.post(path)).toMatchObject(missing)
  await server.post('/messages?wait', { text: 'Hi.' })
  expect(await server.get('/messages/x')).toMatchObject({ status: 404, body: { error: { code: 'MESSAGE_NOT_FOUND' } } })
  expect(await server.post('/messages', { text: ' ' })).toMatchObject({ status: 400 })
  // A message can't choose the network of the code, nor other options of a run.
  for (const option of [{ network: { allow: ['a.test'] } }, { network: false }, { limits: {} }, { sandbox: 'wasm' }])
    expect(await server.post('/messages', { text: 'Hi.', ...option })).toMatchObject({ status: 400 })
  const unnamed = await fetch(`${server.url}/conversations/${encodeURIComponent('../a')}`)
  expect([unnamed.status, await unnamed.json()]).toMatchObject([400, { error: { code: 'RUN_INPUT_INVALID' } }])
})

it('accepts images and PDFs with a message, in a larger body than others may have, and reads no files', async () => {
  const served = await ServeEnvironment.start({ script: [turn(text('A cat.'))] })
  const server = await served.server()
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(3_000_000, 'pixel')])
  const attachments = [{ data: png.toString('base64'), mediaType: 'image/png', name: 'cat.png' }]
  expect(await server.post('/messages?wait', { text: 'What is it?', attachments })).toMatchObject({
    status: 200,
    body: { status: 'answered', answer: 'A cat.' },
  })
  const [sent] = served.env.api.requests.map(({ body }) => (body as { messages: readonly object[] }).messages[0])
  const source = { type: 'base64', media_type: 'image/png', data: png.toString('base64') }
  expect(sent).toMatchObject({ content: [{ type: 'image', source }, { text: 'What is it?' }] })

  const refused = { status: 400, body: { error: { code: 'RUN_INPUT_INVALID' } } }
  for (const each of [{ file: '/etc/passwd' }, { data: 'no base64' }, { data: 'PHN2Zz4=' }, { value: {} }]) {
    expect(await server.post('/messages', { text: 'What is it?', attachments: [each] })).toMatchObject(refused)
  }
  const large = 'x'.repeat(3_000_000)
  expect(await server.post('/reset', { messages: [{ role: 'assistant', content: large }] })).toMatchObject({
    status: 413,
    body: { error: { code: 'BODY_TOO_LARGE' } },
  })
  expect(await server.get()).toMatchObject({ body: { state: 'waiting', messages: 1 } })
})

it('begins a conversation in a named session, and refuses the message of another one', async () => {
  const served = await ServeEnvironment.start({ script: [turn(code('total = 42')), turn(text('Done.'))] })
  const server = await served.server()
  const session = uniqueName('books')
  served.env.sessionHandle(session)
  expect(await server.post('/messages?wait', { text: 'Add up.', session })).toMatchObject({ body: { answer: 'Done.' } })
  expect(await served.ptc.sessions.execute(session, 'print(total)')).toMatchObject({ outcome: { output: '42\n' } })
  for (const other of ['other', 'no name!']) {
    expect(await server.post('/messages', { text: 'Add up.', session: other })).toMatchObject({
      status: 400,
      body: { error: { code: 'RUN_INPUT_INVALID' } },
    })
  }
})
