/*
 * The first message of TLS (RFC 8446, section 4.1.2), as far as the proxy needs it: which server the client asks for.
 *
 * An own parser of some lines: Node parses this message only to answer it, and packages for it read from sockets.
 */

/** What the bytes so far are. `incomplete`: more bytes are needed. `invalid`: they are not a ClientHello. */
export type ClientHello =
  | { readonly type: 'incomplete' | 'invalid' }
  | {
      readonly type: 'hello'
      /** The name in the extension server_name. Undefined: there is none. */
      readonly serverName: string | undefined
      /** The client hides another server name from everybody but the server (extension encrypted_client_hello). */
      readonly isEncrypted: boolean
    }

/** Bytes of the longest ClientHello that is read, with its records. Those of clients have up to about 2,000. */
export const maxClientHelloBytes = 16 * 1024

const handshakeRecord = 22
const clientHelloMessage = 1
const extensionServerName = 0
const extensionEncryptedClientHello = 0xfe0d
const nameTypeHost = 0

/** Reads the ClientHello at the start of a connection. Costs at most a fixed factor of the bytes. */
export function readClientHello(bytes: Buffer): ClientHello {
  const { handshake, isValid } = joinRecords(bytes)
  if (!isValid || (handshake.length > 0 && handshake[0] !== clientHelloMessage)) return { type: 'invalid' }
  const length = handshake.length < 4 ? Infinity : 4 + handshake.readUIntBE(1, 3)
  if (handshake.length < length) {
    const canEnd = bytes.length < maxClientHelloBytes && (length === Infinity || length <= maxClientHelloBytes)
    return { type: canEnd ? 'incomplete' : 'invalid' }
  }
  try {
    return readExtensions(new Reader(handshake.subarray(4, length)))
  } catch (thrown) {
    if (thrown instanceof EndOfMessage) return { type: 'invalid' }
    throw thrown
  }
}

/** The content of the handshake records, without the rest of a record that has not arrived. */
function joinRecords(bytes: Buffer): { readonly handshake: Buffer; readonly isValid: boolean } {
  const contents: Buffer[] = []
  for (let start = 0; start < bytes.length;) {
    const header = bytes.subarray(start, start + 5)
    const isHandshake = header[0] === handshakeRecord && (header.length < 2 || header[1] === 3)
    // Another record after the whole ClientHello is the client's business.
    if (!isHandshake) return { handshake: Buffer.concat(contents), isValid: start > 0 }
    if (header.length < 5) break
    const length = header.readUInt16BE(3)
    if (length === 0 || length > maxClientHelloBytes) return { handshake: Buffer.alloc(0), isValid: false }
    contents.push(bytes.subarray(start + 5, start + 5 + length))
    start += 5 + length
  }
  return { handshake: Buffer.concat(contents), isValid: true }
}

function readExtensions(hello: Reader): ClientHello {
  hello.take(2 + 32) // version, random
  hello.vector(1) // session id
  hello.vector(2) // cipher suites
  hello.vector(1) // compression methods
  const found = new Map<number, Reader>()
  for (const extensions = hello.isAtEnd ? hello : hello.vector(2); !extensions.isAtEnd;) {
    const type = extensions.number(2)
    // Two of a kind are an error, and servers differ in which they take.
    if (found.has(type)) return { type: 'invalid' }
    found.set(type, extensions.vector(2))
  }
  const names = found.get(extensionServerName)?.vector(2)
  const isEncrypted = found.has(extensionEncryptedClientHello)
  if (names === undefined) return { type: 'hello', serverName: undefined, isEncrypted }
  const nameType = names.number(1)
  const serverName = names.vector(2).text()
  if (nameType !== nameTypeHost || !names.isAtEnd) return { type: 'invalid' }
  return { type: 'hello', serverName, isEncrypted }
}

class EndOfMessage extends Error {
  override readonly name = 'EndOfMessage'
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  take(count: number): Buffer {
    if (this.#at + count > this.#bytes.length) throw new EndOfMessage()
    this.#at += count
    return this.#bytes.subarray(this.#at - count, this.#at)
  }

  number(bytes: 1 | 2): number {
    return this.take(bytes).readUIntBE(0, bytes)
  }

  /** A part with its length in front. */
  vector(lengthBytes: 1 | 2): Reader {
    return new Reader(this.take(this.number(lengthBytes)))
  }

  text(): string {
    return this.#bytes.toString('latin1', this.#at)
  }
}
