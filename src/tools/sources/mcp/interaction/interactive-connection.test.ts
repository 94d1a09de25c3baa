import type { Client } from '@modelcontextprotocol/client'
import { expect, it, vi } from 'vitest'
import { deferred } from '../../../../common/async/deferred.js'
import { InputRequiredError } from '../../../input-required-error.js'
import { type ConnectionAccess, InteractiveConnection, type SendCall } from './interactive-connection.js'

const question = {
  message: 'Which color?',
  requestedSchema: { type: 'object', properties: { color: { type: 'string' } } },
}
const done = { content: [{ type: 'text', text: 'done' }] }
const cancelled = { action: 'cancel' }

/** A connection to a server of a protocol before 2026, and what its server asks. */
function connect(asking: InteractiveConnection) {
  let handler: (request: { readonly params: unknown }) => unknown = () => undefined
  const fake = {
    getProtocolEra: () => 'legacy',
    setRequestHandler: (_method: string, handle: typeof handler) => (handler = handle),
  }
  const client = fake as unknown as Client
  asking.handle(client)
  return { client, ask: () => handler({ params: question }) }
}

/** A client of protocol 2026-07-28. */
const modern = { getProtocolEra: () => 'modern' } as unknown as Client

const sampling = { method: 'sampling/createMessage', params: { messages: [said('Why?')], maxTokens: 10 } }

function said(text: string) {
  return { role: 'user', content: { type: 'text', text } }
}

const allowed = { elicitation: true, sampling: false } as const

/** The connections that the next calls get, the last one for all others. */
function accessTo(...clients: readonly Client[]) {
  const closed: Client[] = []
  const controller = new AbortController()
  const access: ConnectionAccess = {
    signal: controller.signal,
    connect: () => Promise.resolve(clients[Math.min(closed.length, clients.length - 1)] as Client),
    close: async (client) => void closed.push(client),
  }
  const answers = { answered: [] }
  return { access, closed, controller, call: (send: SendCall) => ({ ...access, answers, sample: undefined, send }) }
}

it('a question of a closed connection, which other requests still use, is cancelled during another call', async () => {
  const asking = new InteractiveConnection('MCP server shop', allowed)
  const [old, current] = [connect(asking), connect(asking)]
  const { call, closed } = accessTo(current.client)
  const asked: unknown[] = []
  const result = await asking.call(
    call(async () => {
      asked.push(old.ask())
      return done as Awaited<ReturnType<SendCall>>
    }),
  )
  expect(result).toEqual(done)
  expect(asked).toEqual([cancelled])
  expect(closed).toEqual([])
})

it('a question of the session that replaced an unknown one is that of the call, and this one is closed', async () => {
  const asking = new InteractiveConnection('MCP server shop', allowed)
  const [old, replaced] = [connect(asking), connect(asking)]
  const { call, closed, controller } = accessTo(old.client)
  const ended = asking.call(
    call((_client, _parameters, signal, onClient) => {
      onClient(replaced.client)
      expect(old.ask()).toEqual(cancelled)
      replaced.ask()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
    }),
  )
  ended.catch(() => undefined)
  await Promise.resolve()
  controller.abort(new Error('the run is cancelled'))
  await expect(ended).rejects.toThrow('the run is cancelled')
  await expect.poll(() => closed).toEqual([replaced.client])
})

it('a question during a call makes the call wait for people', async () => {
  const asking = new InteractiveConnection('MCP server shop', allowed)
  const { client, ask } = connect(asking)
  const { call } = accessTo(client)
  const send = call(async () => {
    expect(ask()).toEqual(cancelled)
    return done as Awaited<ReturnType<SendCall>>
  })
  await expect(asking.call(send)).rejects.toBeInstanceOf(InputRequiredError)
})

it('the reading of a resource waits for the call of another run, and its own question is cancelled', async () => {
  const asking = new InteractiveConnection('MCP server shop', allowed)
  const { client, ask } = connect(asking)
  const { access, call, closed } = accessTo(client)
  const order: unknown[] = []
  const [begun, mayEnd] = [deferred<void>(), deferred<void>()]
  const calling = asking.call(
    call(async () => {
      begun.resolve()
      await mayEnd.promise
      order.push('call')
      return done as Awaited<ReturnType<SendCall>>
    }),
  )
  await begun.promise
  const reading = asking.request(access, async () => order.push(ask()))
  mayEnd.resolve()
  await Promise.all([calling, reading])
  expect(order).toEqual(['call', cancelled])
  expect(closed).toEqual([])
})

it('the connection of a reading that was cancelled is closed', async () => {
  const asking = new InteractiveConnection('MCP server shop', allowed)
  const { client } = connect(asking)
  const { access, closed, controller } = accessTo(client)
  const reading = asking.request(access, async () => {
    controller.abort(new Error('the run is cancelled'))
    throw controller.signal.reason
  })
  await expect(reading).rejects.toThrow('the run is cancelled')
  await expect.poll(() => closed).toEqual([client])
})

it('a server that asks the model in rounds gets its replies and its state, and then ends its call', async () => {
  const asking = new InteractiveConnection('MCP server shop', { elicitation: false, sampling: true })
  const { access } = accessTo(modern)
  const sample = vi.fn(async () => ({ text: 'because', model: 'm', stopReason: 'end_turn' }))
  const parameters: unknown[] = []
  const send = (async (_client, more) => {
    parameters.push(more)
    if (parameters.length > 12) return done
    return { resultType: 'input_required', inputRequests: { why: sampling }, requestState: `${parameters.length}` }
  }) as SendCall
  const result = await asking.call({ ...access, answers: { answered: [] }, sample, send })
  expect(result).toEqual(done)
  const why = { role: 'assistant', content: { type: 'text', text: 'because' }, model: 'm', stopReason: 'endTurn' }
  expect(parameters.slice(0, 2)).toEqual([{}, { requestState: '1', inputResponses: { why } }])
  expect(sample).toHaveBeenCalledTimes(12)
})

it.each([
  ['when the run refuses', { elicitation: true, sampling: true }, { why: sampling }, 'MCP server shop: no more'],
  ['when it is not allowed', allowed, { why: sampling }, 'MCP server shop needs sampling/createMessage: it is refused'],
  [
    'together with people',
    { elicitation: true, sampling: true },
    { why: sampling, who: { method: 'elicitation/create', params: question } },
    'MCP server shop asks people and the model at once: it is refused',
  ],
])('a server that asks the model in a round %s has its call refused', async (_when, may, inputRequests, message) => {
  const asking = new InteractiveConnection('MCP server shop', may)
  const { access } = accessTo(modern)
  const send = (async () => ({ resultType: 'input_required', inputRequests })) as unknown as SendCall
  const sample = () => Promise.reject(new Error('no more'))
  const call = asking.call({ ...access, answers: { answered: [] }, sample, send })
  await expect(call).rejects.toMatchObject({ name: 'ToolError', message })
})
