import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { encodePacket, maximumDataBytes, type Packet, PacketReader, packetTypes } from './packets.js'

const relay = fileURLToPath(new URL('../../../runner/relay', import.meta.url))

const packetOf = (data: Uint8Array, offset = 7): Packet => ({
  type: packetTypes.data,
  owner: 3,
  offset,
  acknowledged: 2 ** 40,
  data,
})

const allBytes = Buffer.from(Array.from({ length: 1_024 }, (_, index) => index % 256))

function read(chunks: readonly Uint8Array[]): Packet[] {
  const reader = new PacketReader()
  return chunks.flatMap((chunk) => reader.push(chunk)).map((packet) => ({ ...packet, data: Buffer.from(packet.data) }))
}

test('a packet of all bytes is read from chunks of any size', () => {
  const bytes = Buffer.concat([encodePacket(packetOf(allBytes)), encodePacket(packetOf(Buffer.alloc(0), 0))])
  const expected = [packetOf(allBytes), packetOf(Buffer.alloc(0), 0)]
  expect(read([bytes])).toEqual(expected)
  expect(read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected)
})

test('data never has the bytes of a packet', () => {
  const inner = encodePacket({ ...packetOf(Buffer.from('forged')), type: packetTypes.kill })
  const encoded = encodePacket(packetOf(inner))
  expect(encoded.subarray(1, -1).includes(0)).toBe(false)
  // A reader may begin anywhere in it, but after the first byte, which only ends what was before.
  for (let start = 2; start < encoded.length; start += 1) expect(read([encoded.subarray(start)])).toEqual([])
})

test('damage costs the damaged packets, and no other', () => {
  const [one, two] = [encodePacket(packetOf(allBytes)), encodePacket(packetOf(Buffer.from('two')))]
  for (let at = 0; at < one.length; at += 13) {
    expect(read([one.subarray(0, at), two])).toEqual([packetOf(Buffer.from('two'))])
    const changed = Buffer.from(one)
    changed[at] = changed.readUInt8(at) ^ 0x55
    expect(read([changed, two]).at(-1)).toEqual(packetOf(Buffer.from('two')))
  }
})

test('bytes without an end are forgotten', () => {
  const reader = new PacketReader()
  for (let index = 0; index < 1_000; index += 1) expect(reader.push(Buffer.alloc(maximumDataBytes, 0x61))).toEqual([])
  expect(reader.push(encodePacket(packetOf(Buffer.from('next'))))).toMatchObject([{ data: Buffer.from('next') }])
})

test('the relay reads and writes the same bytes', () => {
  const script = `
import sys
from ptc_relay.packets import PacketReader, encode
for packet in PacketReader().push(sys.stdin.buffer.read()):
    sys.stdout.buffer.write(encode(*packet))
`
  const bytes = Buffer.concat([
    encodePacket(packetOf(allBytes)),
    encodePacket(packetOf(Buffer.from([0, 1, 2, 3, 1, 0]))),
  ])
  const { stdout } = spawnSync('python3', ['-c', script], { cwd: relay, input: bytes })
  expect(stdout.equals(bytes)).toBe(true)
})
