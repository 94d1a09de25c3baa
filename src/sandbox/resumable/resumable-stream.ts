import { encodePacket, maximumDataBytes, type Packet, packetTypes } from './packets.js'

/** Bytes that are sent before the receiver has read them. The relay has the same number. */
const windowBytes = 1024 * 1024

/** Received bytes after which the relay gets an acknowledgement at once. */
const promptAckBytes = 64 * 1024

const resendMs = 1_000
const nonceBytes = 16

interface Piece {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** What a packet means to the owner of the stream. */
type Received =
  /** Another `hello` is due: it takes the sandbox over. */
  | { readonly type: 'offered' }
  | { readonly type: 'welcomed' }
  /** New bytes of the runner, in order. */
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | { readonly type: 'interrupted'; readonly number: number }
  /** The runner has exited, and all its bytes were received. */
  | { readonly type: 'exited'; readonly exit: Uint8Array }
  /** Another host owns the runner now. */
  | { readonly type: 'fenced' }
  | { readonly type: 'nothing' }

const nothing = { type: 'nothing' } as const

/** The host's side of the numbered bytes, over any number of connections. Does no input and output, and has no clock. */
export class ResumableStream {
  readonly #nonce: Uint8Array
  #owner = 0
  /** The number that the relay has offered. */
  #offered = 0
  #isWelcome = false
  /** The first byte that the relay has not acknowledged. */
  #base = 0
  /** The next byte to send; it goes back to `#base` when bytes were lost. */
  #next = 0
  #sent = 0
  #end = 0
  #limit = 0
  #progressAt = 0
  #pieces: Piece[] = []
  #received = 0
  #read = 0
  #toldReceived = 0
  #toldRead = 0

  /** @param nonce 16 random bytes, which tell this owner from all others */
  constructor(nonce: Uint8Array) {
    this.#nonce = nonce
  }

  /** The packet that begins each connection, and is repeated until it is answered. */
  hello(): Buffer {
    const isResumed = this.#owner > 0
    const data = Buffer.concat([this.#nonce, Uint8Array.of(isResumed ? 1 : 0)])
    return this.#encode(packetTypes.hello, this.#read, data, this.#number)
  }

  /** The number of this owner, or that which was offered to it. */
  get #number(): number {
    return this.#owner === 0 ? this.#offered : this.#owner
  }

  /** Before a `hello` on another connection. */
  disconnect(): void {
    this.#isWelcome = false
  }

  get isWelcome(): boolean {
    return this.#isWelcome
  }

  /** Adds bytes for the runner. Returns the offset of their end. */
  write(bytes: Uint8Array): number {
    for (let at = 0; at < bytes.length; at += maximumDataBytes) {
      const piece = bytes.subarray(at, at + maximumDataBytes)
      this.#pieces.push({ offset: this.#end, bytes: piece })
      this.#end += piece.length
    }
    return this.#end
  }

  /** Offset before which all bytes were sent at least once. */
  get sentOffset(): number {
    return this.#sent
  }

  /** Returns the packets for which there is room now. */
  takePackets(nowMs: number): Buffer[] {
    if (!this.#isWelcome) return []
    if (this.#next > this.#base && nowMs - this.#progressAt > resendMs) this.#next = this.#base
    const due: Buffer[] = []
    for (const { offset, bytes } of this.#pieces) {
      const end = offset + bytes.length
      if (offset < this.#next) continue
      if (end > this.#limit) break
      due.push(this.#encode(packetTypes.data, offset, bytes))
      this.#next = end
      this.#sent = Math.max(this.#sent, end)
      this.#progressAt = nowMs
    }
    // The acknowledgement that made room may be lost. A ping is answered by what was read.
    if (due.length === 0 && this.#next < this.#end && nowMs - this.#progressAt > resendMs) {
      this.#progressAt = nowMs
      due.push(this.ping())
    }
    return due
  }

  /** The reader has taken all received bytes. */
  markRead(): void {
    this.#read = this.#received
  }

  get isAckPending(): boolean {
    return this.#received > this.#toldReceived || this.#read > this.#toldRead
  }

  /** Whether the relay should learn at once what was received or read: it may wait for that. */
  get isAckUrgent(): boolean {
    return this.#received - this.#toldReceived > promptAckBytes || this.#read - this.#toldRead > windowBytes / 4
  }

  ack(): Buffer {
    this.#toldRead = this.#read
    return this.#encode(packetTypes.ack, this.#read)
  }

  ping(): Buffer {
    this.#toldRead = this.#read
    return this.#encode(packetTypes.ping, this.#read)
  }

  interrupt(number: number): Buffer {
    return this.#encode(packetTypes.interrupt, number)
  }

  kill(): Buffer {
    return this.#encode(packetTypes.kill, 0)
  }

  exitAck(): Buffer {
    return this.#encode(packetTypes.exitAck, 0)
  }

  receive(packet: Packet, nowMs: number): Received {
    const { type, owner, offset } = packet
    if (type === packetTypes.welcome) return this.#welcome(packet)
    if (type === packetTypes.offer) return this.#takeOffer(packet)
    if (!this.#isWelcome) return nothing
    if (owner !== this.#owner) return owner > this.#owner ? { type: 'fenced' } : nothing
    this.#acknowledge(packet.acknowledged, nowMs)
    switch (type) {
      case packetTypes.ack:
        this.#limit = Math.max(this.#limit, offset + windowBytes)
        return nothing
      case packetTypes.data:
        return this.#take(packet)
      case packetTypes.interrupt:
        return { type: 'interrupted', number: offset }
      case packetTypes.exit:
        return offset === this.#received ? { type: 'exited', exit: packet.data } : nothing
      default:
        return nothing
    }
  }

  #takeOffer({ owner, data }: Packet): Received {
    if (this.#number > 0 || data.length !== nonceBytes || !this.#isOwnNonce(data)) return nothing
    this.#offered = owner
    return { type: 'offered' }
  }

  #isOwnNonce(data: Uint8Array): boolean {
    return this.#nonce.every((byte, index) => data[index] === byte)
  }

  #welcome({ owner, offset, acknowledged, data }: Packet): Received {
    const isFirst = this.#owner === 0
    if (!this.#isOwnNonce(data) || data.length !== nonceBytes + 8)
      return this.#number > 0 && owner > this.#number ? { type: 'fenced' } : nothing
    if (this.#isWelcome) return nothing
    const read = Number(Buffer.from(data).readBigUInt64BE(nonceBytes))
    if (isFirst) {
      this.#owner = owner
      this.#received = this.#read = this.#toldReceived = this.#toldRead = offset
      // Bytes that were written before have offsets from 0 on.
      this.#pieces = this.#pieces.map((piece) => ({ ...piece, offset: piece.offset + acknowledged }))
      this.#base += acknowledged
      this.#end += acknowledged
      this.#sent = this.#base
    } else this.#drop(acknowledged)
    this.#next = this.#base
    this.#limit = read + windowBytes
    this.#isWelcome = true
    return { type: 'welcomed' }
  }

  #acknowledge(offset: number, nowMs: number): void {
    if (offset <= this.#base || offset > this.#end) return
    this.#drop(offset)
    this.#next = Math.max(this.#next, offset)
    this.#progressAt = nowMs
  }

  #drop(offset: number): void {
    if (offset <= this.#base || offset > this.#end) return
    this.#base = offset
    const kept = this.#pieces.findIndex((piece) => piece.offset + piece.bytes.length > offset)
    const pieces = kept < 0 ? [] : this.#pieces.slice(kept)
    this.#pieces = pieces.map((piece) =>
      piece.offset >= offset ? piece : { offset, bytes: piece.bytes.subarray(offset - piece.offset) },
    )
  }

  #take({ offset, data }: Packet): Received {
    const known = this.#received - offset
    // After a gap nothing is taken: the relay sends all of it again. An honest relay keeps within the window.
    if (known < 0 || known >= data.length || this.#received - this.#read > windowBytes) {
      this.#toldReceived = Math.min(this.#toldReceived, this.#received - 1)
      return nothing
    }
    const bytes = data.subarray(known)
    this.#received += bytes.length
    return { type: 'bytes', bytes }
  }

  #encode(type: number, offset: number, data: Uint8Array = new Uint8Array(), owner = this.#owner): Buffer {
    this.#toldReceived = this.#received
    return encodePacket({ type, owner, offset, acknowledged: this.#received, data })
  }
}
