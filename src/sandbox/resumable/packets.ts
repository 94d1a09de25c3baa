import { crc32 } from 'node:zlib'

/*
 * Packets in a stream of bytes that may begin in the middle, lose bytes, and mix those of two senders.
 *
 * A zero byte is before and after each packet, and nowhere in it: 0 is sent as 1 3, and 1 as 1 2. So a reader finds the
 * next packet after any damage, and data never looks like a packet. A packet is a type (1 byte), the number of the owner
 * (4), an offset (8), an acknowledged offset (8), data, and a CRC-32 of all of it (4); numbers are big-endian.
 * runner/relay/ptc_relay/packets.py is the other side.
 */

export const packetTypes = {
  /** To the relay. Owner: 0, or what was offered. Offset: bytes that were read. Data: nonce, and 1 to resume. */
  hello: 1,
  /** Offset: of the first byte of the data. */
  data: 2,
  /** Offset: bytes that were read. */
  ack: 3,
  /** The same, and is answered. */
  ping: 4,
  /** Offset: number of the interrupt. Answered by the same number. */
  interrupt: 5,
  kill: 6,
  /** From the relay. Offset: of the first byte that was not acknowledged. Data: nonce, and bytes that were read. */
  welcome: 7,
  /** From the relay. Offset: the length of the output. Data: JSON. */
  exit: 8,
  exitAck: 9,
  /** From the relay, for a first hello: the number of the owner that its host may become. Data: nonce. */
  offer: 10,
} as const

export interface Packet {
  readonly type: number
  /** The number that the relay gave to the host that owns its runner. */
  readonly owner: number
  readonly offset: number
  /** The sender has all bytes before this offset. */
  readonly acknowledged: number
  readonly data: Uint8Array
}

const headerBytes = 21
const checksumBytes = 4
export const maximumDataBytes = 32 * 1024
const maximumEncodedBytes = 2 * (headerBytes + maximumDataBytes + checksumBytes)

const delimiter = 0
const escape = 1
const escapedEscape = 2
const escapedDelimiter = 3
const delimiterBytes = Uint8Array.of(delimiter)

export function encodePacket({ type, owner, offset, acknowledged, data }: Packet): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt8(type, 0)
  header.writeUInt32BE(owner, 1)
  header.writeBigUInt64BE(BigInt(offset), 5)
  header.writeBigUInt64BE(BigInt(acknowledged), 13)
  const checksum = Buffer.alloc(checksumBytes)
  checksum.writeUInt32BE(crc32(data, crc32(header)), 0)
  return Buffer.concat([delimiterBytes, escapeBytes(header), escapeBytes(data), escapeBytes(checksum), delimiterBytes])
}

function escapeBytes(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(delimiter) && !bytes.includes(escape)) return bytes
  const escaped = Buffer.allocUnsafe(2 * bytes.length)
  let length = 0
  for (const byte of bytes) {
    if (byte > escape) escaped[length++] = byte
    else {
      escaped[length++] = escape
      escaped[length++] = byte === delimiter ? escapedDelimiter : escapedEscape
    }
  }
  return escaped.subarray(0, length)
}

function unescapeBytes(bytes: Buffer): Buffer {
  if (!bytes.includes(escape)) return bytes
  const plain = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes.readUInt8(at)
    if (byte !== escape) plain[length++] = byte
    else {
      at += 1
      // Damaged: the checksum differs then.
      plain[length++] = bytes[at] === escapedDelimiter ? delimiter : escape
    }
  }
  return plain.subarray(0, length)
}

/** Returns undefined for anything that is not a whole packet. */
function decodePacket(encoded: Buffer): Packet | undefined {
  const packet = unescapeBytes(encoded)
  const end = packet.length - checksumBytes
  if (end < headerBytes || packet.readUInt32BE(end) !== crc32(packet.subarray(0, end))) return undefined
  const [offset, acknowledged] = [Number(packet.readBigUInt64BE(5)), Number(packet.readBigUInt64BE(13))]
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(acknowledged)) return undefined
  const data = packet.subarray(headerBytes, end)
  return { type: packet.readUInt8(0), owner: packet.readUInt32BE(1), offset, acknowledged, data }
}

/** Finds the packets in untrusted chunks of any size. Linear in the bytes; keeps no more than a packet. */
export class PacketReader {
  #rest: Buffer[] = []
  #restBytes = 0

  push(chunk: Uint8Array): Packet[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const packets: Packet[] = []
    let start = 0
    for (let end = bytes.indexOf(delimiter); end >= 0; end = bytes.indexOf(delimiter, start)) {
      const last = bytes.subarray(start, end)
      const encoded = this.#rest.length === 0 ? last : Buffer.concat([...this.#rest, last])
      this.#forget()
      start = end + 1
      if (encoded.length === 0 || encoded.length > maximumEncodedBytes) continue
      const packet = decodePacket(encoded)
      if (packet !== undefined) packets.push(packet)
    }
    this.#keep(bytes.subarray(start))
    return packets
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    // No packet is that long. Its end is not one, either: the checksum differs.
    if (this.#restBytes + bytes.length > maximumEncodedBytes) return this.#forget()
    this.#rest.push(bytes)
    this.#restBytes += bytes.length
  }

  #forget(): void {
    this.#rest = []
    this.#restBytes = 0
  }
}
