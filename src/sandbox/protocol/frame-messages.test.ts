import { describe, expect, it } from 'vitest'
import { encodeMessage } from './frames.js'
import type { ValuePiece } from './messages.js'

const piece = {
  type: 'value',
  fence: [1, 2, 3],
  value: 'hash',
  piece: 0,
  last: true,
} as const satisfies Partial<ValuePiece>

function bodyOf(parts: readonly Uint8Array[]): string {
  const frame = Buffer.concat(parts)
  expect(frame.readUInt32BE(0)).toBe(frame.length - 4)
  return frame.subarray(4).toString()
}

describe('encodeMessage', () => {
  it.each(['', '["é😀\\n"]', 'one\ntwo\n'])(
    'encodeMessage writes the text of a value after a line of JSON: %j',
    (text) => {
      const body = bodyOf(encodeMessage({ ...piece, text: Buffer.from(text) }, 1_000))
      expect(body).toBe(`{"type":"value","fence":[1,2,3],"value":"hash","piece":0,"last":true}\n${text}`)
    },
  )

  it('encodeMessage does not copy the text of a value', () => {
    const text = Buffer.from('["text"]')
    expect(encodeMessage({ ...piece, text }, 1_000).at(-1)).toBe(text)
  })

  it('encodeMessage writes every other message as one line', () => {
    const source = 'print(1)\nprint(2)\0'
    const body = bodyOf(
      encodeMessage({ type: 'cell', fence: [1, 2, 3], step: 2, cell: 1, digest: 'd', now: 0, source }, 1_000),
    )
    expect(body).not.toContain('\n')
    expect(JSON.parse(body)).toMatchObject({ type: 'cell', source })
  })

  it.each([
    ['would start a frame', Buffer.from('"\0\0\0\u0002{}'), 'VALUE_CORRUPT'],
    ['is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'VALUE_CORRUPT'],
    ['ends within a character', Buffer.from('é').subarray(0, 1), 'VALUE_CORRUPT'],
    ['is over the limit', Buffer.from('é'.repeat(500)), 'LIMIT_EXCEEDED'],
  ])('encodeMessage rejects a text that %s', (_what, text, code) => {
    expect(() => encodeMessage({ ...piece, text }, 1_000)).toThrow(expect.objectContaining({ code }))
  })
})
