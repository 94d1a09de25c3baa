import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { Duplex } from 'node:stream'
import { expect, it } from 'vitest'
import { maxClientHelloBytes, readClientHello } from './client-hello.js'

/** The first bytes of Node's own client. */
function helloOf(options: ConnectionOptions): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        resolve(chunk)
        done()
      },
    })
    connectTls({ socket, ...options }).on('error', () => undefined)
  })
}

/** A vector of TLS: its length, and its content. */
function vector(lengthBytes: number, ...parts: readonly (Buffer | readonly number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const length = Buffer.alloc(lengthBytes)
  length.writeUIntBE(content.length, 0, lengthBytes)
  return Buffer.concat([length, content])
}

const extension = (type: number, content: Buffer) =>
  Buffer.concat([Buffer.from([type >> 8, type & 255]), vector(2, content)])
const serverName = (name: string, type = 0) => extension(0, vector(2, [type], vector(2, Buffer.from(name))))

function message(...extensions: readonly Buffer[]): Buffer {
  const content = [Buffer.from([3, 3]), Buffer.alloc(32), vector(1), vector(2, [19, 1]), vector(1, [0])]
  return Buffer.concat([Buffer.from([1]), vector(3, Buffer.concat([...content, vector(2, ...extensions)]))])
}

const record = (content: Buffer, type = 22) => Buffer.concat([Buffer.from([type, 3, 1]), vector(2, content)])

it.each(['TLSv1.2', 'TLSv1.3'] as const)('reads the server name of a client with %s', async (version) => {
  const hello = await helloOf({ servername: 'api.example.com', minVersion: version, maxVersion: version })
  expect(readClientHello(hello)).toEqual({ type: 'hello', serverName: 'api.example.com', isEncrypted: false })
})

it('a client without a server name', async () => {
  expect(readClientHello(await helloOf({}))).toEqual({ type: 'hello', serverName: undefined, isEncrypted: false })
})

it('every start of a ClientHello is incomplete, and further bytes do not matter', async () => {
  const hello = await helloOf({ servername: 'api.example.com' })
  for (let length = 0; length < hello.length; length++)
    expect(readClientHello(hello.subarray(0, length)), String(length)).toEqual({ type: 'incomplete' })
  for (const more of [Buffer.from([1, 2, 3]), Buffer.from([20, 3, 3, 0, 1, 1])])
    expect(readClientHello(Buffer.concat([hello, more]))).toMatchObject({ serverName: 'api.example.com' })
})

it('a ClientHello in several records is one message', () => {
  const whole = message(serverName('api.example.com'))
  const records = [...whole].map((byte) => record(Buffer.of(byte)))
  expect(readClientHello(Buffer.concat(records))).toMatchObject({ serverName: 'api.example.com' })
})

it('a hidden server name is noticed', () => {
  const hello = record(message(serverName('public.example.com'), extension(0xfe0d, Buffer.alloc(5))))
  expect(readClientHello(hello)).toEqual({ type: 'hello', serverName: 'public.example.com', isEncrypted: true })
})

it.each([
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n')],
  ['SSH', Buffer.from('SSH-2.0-OpenSSH_9\r\n')],
  ['another record', record(message(), 23)],
  ['an empty record', record(Buffer.alloc(0))],
  ['another handshake message', record(Buffer.from([2, 0, 0, 1, 0]))],
  ['a message with a short length', record(Buffer.from([1, 0, 0, 1, 0]))],
  ['a message over the limit', record(Buffer.from([1, 255, 255, 255]))],
  ['two server names', record(message(serverName('a.example'), serverName('b.example')))],
  ['two names in a list', record(message(extension(0, vector(2, [0], vector(2, [97]), [0], vector(2, [98])))))],
  ['a name of another type', record(message(serverName('a.example', 1)))],
  ['an extension that is longer than the message', record(message(Buffer.from([0, 0, 255, 255])))],
])('%s is no ClientHello', (_, bytes) => expect(readClientHello(bytes)).toEqual({ type: 'invalid' }))

it('bytes without an end are read up to the limit', () => {
  const records = Buffer.concat(Array.from({ length: maxClientHelloBytes }, () => record(Buffer.of(1))))
  expect(readClientHello(records.subarray(0, maxClientHelloBytes))).toEqual({ type: 'invalid' })
})

it('arbitrary bytes are judged without an error', () => {
  const hello = record(message(serverName('api.example.com')))
  for (let at = 0; at < hello.length; at++)
    for (const value of [0, 1, 127, 255]) {
      const changed = Buffer.from(hello)
      changed[at] = value
      expect(() => readClientHello(changed)).not.toThrow()
    }
})
