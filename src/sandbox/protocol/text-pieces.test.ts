import { describe, expect, it } from 'vitest'
import { splitIntoPieces, type TextPiece } from './text-pieces.js'

async function* from(chunks: readonly Uint8Array[], end?: Error): AsyncGenerator<Uint8Array> {
  yield* chunks
  if (end) throw end
}

async function all(chunks: readonly Uint8Array[], maximumBytes: number): Promise<TextPiece[]> {
  const pieces: TextPiece[] = []
  for await (const piece of splitIntoPieces(from(chunks), maximumBytes)) pieces.push(piece)
  return pieces
}

function chunksOf(text: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.subarray(at * size, (at + 1) * size))
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

describe('splitIntoPieces', () => {
  const text = 'abé\u4e2d\u{1F600}\u{1F601}c\u{1F602}d'.repeat(7)

  it.each([4, 5, 6, 7, 9, 100, 1_000])(
    'splitIntoPieces yields the same text in pieces of at most %i bytes, and marks only the last piece as last',
    async (maximumBytes) => {
      for (let size = 1; size < 40; size += 1) {
        const pieces = await all(chunksOf(Buffer.from(text), size), maximumBytes)
        // The decoder rejects a piece that begins or ends within a character.
        expect(pieces.map((piece) => utf8.decode(piece.text)).join('')).toBe(text)
        expect(Math.max(...pieces.map((piece) => piece.text.length))).toBeLessThanOrEqual(maximumBytes)
        expect(pieces.map(({ last }) => last)).toEqual(pieces.map((_, index) => index === pieces.length - 1))
      }
    },
  )

  it('splitIntoPieces yields one empty last piece for an empty source', async () => {
    const empty = new Uint8Array()
    expect(await all([], 8)).toEqual([{ text: empty, last: true }])
    expect(await all([empty, empty], 8)).toEqual([{ text: empty, last: true }])
  })

  it('splitIntoPieces yields no last piece when the source fails at its end', async () => {
    const seen: TextPiece[] = []
    const chunks = chunksOf(Buffer.from('abcdefgh'), 4)
    const reading = (async () => {
      for await (const piece of splitIntoPieces(from(chunks, new Error('other bytes')), 8)) seen.push(piece)
    })()
    await expect(reading).rejects.toThrow('other bytes')
    expect(seen).toEqual([{ text: chunks[0], last: false }])
  })

  it('splitIntoPieces reads from its source only one chunk more than the next piece', async () => {
    let asked = 0
    async function* counting(): AsyncGenerator<Uint8Array> {
      for (;;) {
        asked += 1
        yield Buffer.from('abcd')
      }
    }
    const pieces = splitIntoPieces(counting(), 8)
    await pieces.next()
    expect(asked).toBe(2)
    await pieces.return(undefined)
  })

  it('splitIntoPieces joins small chunks, and does not copy large ones', async () => {
    const small = await all(chunksOf(Buffer.alloc(1_000, 'x'), 10), 800)
    expect(small).toHaveLength(10)
    const large = Buffer.alloc(1_000, 'x')
    const pieces = await all([large, large], 800)
    expect(pieces.map(({ text }) => text.buffer === large.buffer)).toEqual([true, true, true, true])
  })

  it.each([
    ['continuation bytes alone', Buffer.alloc(50, 0xbf)],
    ['first bytes alone', Buffer.alloc(50, 0xf0)],
    ['a character without its end', Buffer.from([0x22, 0x61, 0xe4, 0xb8])],
    ['long text that ends within a character', Buffer.from('é'.repeat(25)).subarray(0, 49)],
  ])('splitIntoPieces passes on bytes that are not UTF-8: %s', async (_, text) => {
    for (const size of [1, 3, 7, 50]) {
      const pieces = await all(chunksOf(text, size), 8)
      expect(Buffer.concat(pieces.map((piece) => piece.text))).toEqual(text)
    }
  })
})
