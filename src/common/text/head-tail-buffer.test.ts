import { describe, expect, it } from 'vitest'
import { HeadTailBuffer } from './head-tail-buffer.js'

function bufferOf(limit: number, ...pieces: readonly string[]): HeadTailBuffer {
  const buffer = new HeadTailBuffer(limit)
  for (const piece of pieces) buffer.add(piece)
  return buffer
}

describe('HeadTailBuffer', () => {
  it('HeadTailBuffer keeps the whole text up to the limit, for any split into pieces', () => {
    expect(bufferOf(6).text).toBe('')
    expect(bufferOf(6, 'abcdef').text).toBe('abcdef')
    expect(bufferOf(6, 'a', '', 'bcd', 'ef').text).toBe('abcdef')
  })

  it.each([[['abcdefghij']], [['ab', 'cdefgh', 'ij']], ['abcdefghij'.split('')]])(
    'HeadTailBuffer keeps head and tail over the limit, and counts the omitted characters: %j',
    (pieces) => {
      const output = bufferOf(5, ...pieces)
      expect(output.text).toBe('abc\n[... 5 characters cut ...]\nij')
      expect(output.length).toBe(10)
    },
  )

  it('HeadTailBuffer adds the characters that earlier markers have replaced', () => {
    const output = bufferOf(6, 'abcdef', 'gh\n[... 900 characters cut ...]\nij', 'kl')
    expect(output.text).toBe('abc\n[... 906 characters cut ...]\njkl')
    expect(bufferOf(60, 'a\n[... 9 characters cut ...]\nb').text).toBe('a\n[... 9 characters cut ...]\nb')
  })

  it('HeadTailBuffer cuts between characters, for any limit and any split into pieces', () => {
    const text = `a${'😀'.repeat(20)}é${'😀'.repeat(20)}`
    for (let limit = 0; limit <= text.length + 1; limit++) {
      const whole = bufferOf(limit, text)
      const units = Array.from({ length: text.length }, (_, index) => text.slice(index, index + 1))
      expect(bufferOf(limit, ...units).text).toBe(whole.text)
      expect(whole.text.isWellFormed()).toBe(true)
      const [head = '', tail = ''] = whole.text.split(/\n\[.*\]\n/)
      expect(head.length + tail.length).toBeLessThanOrEqual(limit)
      expect(head.length + tail.length).toBeGreaterThanOrEqual(Math.min(limit, text.length) - 2)
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
      const cut = Number(/(\d+) characters cut/.exec(whole.text)?.[1] ?? 0)
      expect(head.length + cut + tail.length).toBe(text.length)
    }
  })

  it('HeadTailBuffer keeps the first character at a limit of one', () => {
    expect(bufferOf(1, 'ab', 'c').text).toBe('a\n[... 2 characters cut ...]\n')
  })
})
