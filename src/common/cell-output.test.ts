import { describe, expect, it } from 'vitest'
import { CellOutput } from './cell-output.js'

function outputOf(limit: number, ...pieces: readonly string[]): CellOutput {
  const output = new CellOutput(limit)
  for (const piece of pieces) output.add(piece)
  return output
}

describe('CellOutput', () => {
  it('is all that was printed up to the limit, in whatever pieces', () => {
    expect(outputOf(6).text).toBe('')
    expect(outputOf(6, 'abcdef').text).toBe('abcdef')
    expect(outputOf(6, 'a', '', 'bcd', 'ef').text).toBe('abcdef')
  })

  it.each([[['abcdefghij']], [['ab', 'cdefgh', 'ij']], ['abcdefghij'.split('')]])(
    'over it keeps head and tail, and counts what is missing: %j',
    (pieces) => {
      const output = outputOf(5, ...pieces)
      expect(output.text).toBe('abc\n[... 5 characters cut ...]\nij')
      expect(output.length).toBe(10)
    },
  )

  it('counts what was missing before too', () => {
    const output = outputOf(6, 'abcdef', 'gh\n[... 900 characters cut ...]\nij', 'kl')
    expect(output.text).toBe('abc\n[... 906 characters cut ...]\njkl')
    expect(outputOf(60, 'a\n[... 9 characters cut ...]\nb').text).toBe('a\n[... 9 characters cut ...]\nb')
  })

  it('with room for one character keeps the first', () => {
    expect(outputOf(1, 'ab', 'c').text).toBe('a\n[... 2 characters cut ...]\n')
  })
})
