import { describe, expect, it } from 'vitest'
import { encodeFrame } from './frames.js'
import { splitIntoPieces, maximumPieceLength, type TextPiece } from './text-pieces.js'

async function* from(chunks: readonly string[], end?: Error): AsyncGenerator<string> {
  yield* chunks
  if (end) throw end
}

async function all(chunks: readonly string[], units: number): Promise<TextPiece[]> {
  const pieces: TextPiece[] = []
  for await (const piece of splitIntoPieces(from(chunks), units)) pieces.push(piece)
  return pieces
}

describe('splitIntoPieces', () => {
  const text = 'ab\u{1F600}\u{1F601}c\u{1F602}d'.repeat(7)

  it.each([2, 3, 4, 5, 7, 100])(
    'splitIntoPieces yields the same text in pieces of at most %i units, and marks only the last piece as last',
    async (units) => {
      for (let size = 1; size < 12; size += 1) {
        const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
          text.slice(at * size, (at + 1) * size),
        )
        const pieces = await all(chunks, units)
        expect(pieces.map((piece) => piece.text).join('')).toBe(text)
        expect(Math.max(...pieces.map((piece) => piece.text.length))).toBeLessThanOrEqual(units)
        expect(pieces.map(({ last }) => last)).toEqual(pieces.map((_, index) => index === pieces.length - 1))
        // A split surrogate pair can't be joined again in UTF-8.
        expect(pieces.some((piece) => /\p{Surrogate}/u.test(piece.text))).toBe(false)
      }
    },
  )

  it('splitIntoPieces yields one empty last piece for an empty source', async () => {
    expect(await all([], 5)).toEqual([{ text: '', last: true }])
    expect(await all(['', ''], 5)).toEqual([{ text: '', last: true }])
  })

  it('splitIntoPieces yields no last piece when the source fails at its end', async () => {
    const seen: TextPiece[] = []
    const reading = (async () => {
      for await (const piece of splitIntoPieces(from(['abcdef'], new Error('other bytes')), 2)) seen.push(piece)
    })()
    await expect(reading).rejects.toThrow('other bytes')
    expect(seen.map(({ last }) => last)).toEqual([false, false])
  })

  it('splitIntoPieces reads from its source only the characters of the next piece', async () => {
    let asked = 0
    async function* counting(): AsyncGenerator<string> {
      for (;;) {
        asked += 1
        yield 'abcd'
      }
    }
    const pieces = splitIntoPieces(counting(), 4)
    await pieces.next()
    expect(asked).toBe(2)
    await pieces.return(undefined)
  })
})

describe('maximumPieceLength', () => {
  it.each(['\ud800', '\u4e2d', '"', 'x'])('a piece of %j fits into a quarter of a frame', (unit) => {
    const frameBytes = 100_000
    const text = unit.repeat(maximumPieceLength(frameBytes))
    expect(encodeFrame({}, frameBytes, text).length).toBeLessThanOrEqual(frameBytes / 4 + 7)
  })
})
