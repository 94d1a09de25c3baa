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

function bodyOf(frame: Uint8Array): string {
  expect(Buffer.from(frame).readUInt32BE(0)).toBe(frame.length - 4)
  return Buffer.from(frame).subarray(4).toString()
}

describe('encodeMessage', () => {
  it.each(['', '["é😀\\n"]', 'one\ntwo\n'])(
    'encodeMessage writes the text of a value after a line of JSON: %j',
    (text) => {
      const body = bodyOf(encodeMessage({ ...piece, text }, 1_000))
      expect(body).toBe(`{"type":"value","fence":[1,2,3],"value":"hash","piece":0,"last":true}\n${text}`)
    },
  )

  it('encodeMessage writes every other message as one line', () => {
    const source = 'print(1)\nprint(2)\0'
    const body = bodyOf(
      encodeMessage({ type: 'cell', fence: [1, 2, 3], step: 2, cell: 1, digest: 'd', now: 0, source }, 1_000),
    )
    expect(body).not.toContain('\n')
    expect(JSON.parse(body)).toMatchObject({ type: 'cell', source })
  })

  it('encodeMessage rejects a text that would start a frame, or is over the limit', () => {
    expect(() => encodeMessage({ ...piece, text: '"\0\0\0\u0002{}' }, 1_000)).toThrow(
      expect.objectContaining({ code: 'VALUE_CORRUPT' }),
    )
    expect(() => encodeMessage({ ...piece, text: 'é'.repeat(500) }, 1_000)).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
    )
  })
})
