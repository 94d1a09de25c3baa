import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { expect, it } from 'vitest'
import {
  type Fence,
  networkDataBytes,
  type NetworkMessage,
  networkWindowBytes,
  type RunnerNetworkMessage,
} from '../protocol/messages.js'
import { maxConnections, Tunnel } from './tunnel.js'

const fence: Fence = [1, 4, 1]

function startTunnel() {
  const sent: NetworkMessage[] = []
  const opened: Duplex[] = []
  const tunnel = new Tunnel({
    send: (message) => Promise.resolve(sent.push(message)),
    onConnection: (connection) => opened.push(connection),
  })
  tunnel.start(fence)
  const receive = (connection: number, message: object, of: Fence = fence) =>
    tunnel.receive({ type: 'network', fence: [...of], connection, ...message } as RunnerNetworkMessage)
  const open = (connection: number): Duplex => {
    receive(connection, { kind: 'open' })
    const stream = opened.at(-1)
    if (stream === undefined) throw new Error('no connection was opened')
    return stream
  }
  return { tunnel, sent, opened, receive, open }
}

const data = (bytes: Buffer) => ({ kind: 'data', text: bytes.toString('base64') })
const kindsOf = (messages: readonly NetworkMessage[]) => messages.map(({ connection, kind }) => `${connection} ${kind}`)

it('bytes go in both directions, and an end in each direction ends a connection', async () => {
  const { open, receive, sent } = startTunnel()
  const stream = open(1)
  receive(1, data(Buffer.from('hello')))
  receive(1, { kind: 'end' })
  const received: Buffer[] = []
  stream.on('data', (chunk: Buffer) => received.push(chunk))
  await once(stream, 'end')
  expect(Buffer.concat(received).toString()).toBe('hello')
  stream.end('bye')
  await once(stream, 'close')
  expect(kindsOf(sent)).toEqual(['1 data', '1 end'])
  expect(sent[0]).toEqual({ type: 'network', fence, connection: 1, kind: 'data', text: 'Ynll' })
})

it('a sender stops at its window, and goes on with the bytes of a message', async () => {
  const { open, receive, sent } = startTunnel()
  const stream = open(1)
  stream.write(Buffer.alloc(networkWindowBytes + 1_000))
  const bytesSent = () =>
    sent.reduce(
      (bytes, message) => bytes + (message.kind === 'data' ? Buffer.from(message.text, 'base64').length : 0),
      0,
    )
  await expect.poll(bytesSent).toBe(networkWindowBytes)
  expect(
    sent.every((message) => message.kind !== 'data' || message.text.length <= (networkDataBytes / 3 + 1) * 4),
  ).toBe(true)
  receive(1, { kind: 'window', bytes: 400 })
  await expect.poll(bytesSent).toBe(networkWindowBytes + 400)
})

it('a reader that reads gives its sender room, and one that does not gives none', async () => {
  const { open, receive, sent } = startTunnel()
  const stream = open(1)
  const piece = Buffer.alloc(networkDataBytes)
  for (let count = 0; count < 4; count++) receive(1, data(piece))
  const room = () => sent.reduce((bytes, message) => bytes + (message.kind === 'window' ? message.bytes : 0), 0)
  const given = room()
  expect(given).toBeLessThan(networkWindowBytes)
  stream.resume()
  await expect.poll(room).toBe(networkWindowBytes)
})

it('a program that sends more than its window loses its connection, and only this one', () => {
  const { open, receive, sent } = startTunnel()
  const [stream, other] = [open(1), open(2)]
  const piece = Buffer.alloc(networkDataBytes)
  for (let count = 0; count < 10; count++) receive(1, data(piece))
  expect(stream.destroyed).toBe(true)
  expect(other.destroyed).toBe(false)
  expect(kindsOf(sent)).toContain('1 close')
})

it.each([
  ['data for a connection that was never opened', 7, data(Buffer.from('x'))],
  ['the end of a connection that was never opened', 7, { kind: 'end' }],
  ['a window of a connection that was never opened', 7, { kind: 'window', bytes: 1 }],
])('%s is ignored', (_, connection, message) => {
  const { receive, sent, opened } = startTunnel()
  receive(connection, message)
  expect({ sent, opened }).toEqual({ sent: [], opened: [] })
})

it('forged windows do not make a sender send more than a window at once', async () => {
  const { open, receive, sent } = startTunnel()
  const stream = open(1)
  for (let count = 0; count < 100; count++) receive(1, { kind: 'window', bytes: networkWindowBytes })
  stream.write(Buffer.alloc(4 * networkWindowBytes))
  await new Promise(setImmediate)
  const bytes = sent.reduce(
    (sum, each) => sum + (each.kind === 'data' ? Buffer.from(each.text, 'base64').length : 0),
    0,
  )
  expect(bytes).toBeLessThanOrEqual(networkWindowBytes)
})

it.each([
  ['data after the end', [{ kind: 'end' }, data(Buffer.from('x'))]],
  ['a second open', [{ kind: 'open' }]],
])('%s ends the connection', (_, messages) => {
  const { open, receive } = startTunnel()
  const stream = open(1)
  for (const message of messages) receive(1, message)
  expect(stream.destroyed).toBe(true)
})

it('a number is not used twice, and there are at most so many connections', () => {
  const { open, receive, sent, opened } = startTunnel()
  open(5)
  receive(5, { kind: 'close' })
  receive(5, { kind: 'open' })
  receive(4, { kind: 'open' })
  expect(opened).toHaveLength(1)
  expect(kindsOf(sent)).toEqual(['5 close', '4 close'])
  for (let number = 6; number < 6 + 2 * maxConnections; number++) receive(number, { kind: 'open' })
  expect(opened).toHaveLength(1 + maxConnections)
})

it('messages for another worker are ignored, and a new hello ends all connections', () => {
  const { tunnel, open, receive, opened, sent } = startTunnel()
  receive(1, { kind: 'open' }, [1, 4, 2])
  expect(opened).toEqual([])
  const stream = open(1)
  tunnel.start([1, 5, 1])
  expect(stream.destroyed).toBe(true)
  expect(sent).toEqual([])
  receive(2, { kind: 'open' })
  expect(opened).toHaveLength(1)
})
