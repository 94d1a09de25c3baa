import { describe, expect, it } from 'vitest'
import { countStructuralBytes } from './structural-bytes.js'

const count = (json: string, bytes = 1_000_000) => countStructuralBytes(Buffer.from(json), { bytes, depth: 5_000 })

describe('countStructuralBytes', () => {
  it.each([
    ['{}', 2],
    ['[1,2]', 5],
    ['"a, [b"', 2],
    [String.raw`["\"[[[[", "\\"]`, 8],
    ['{"a": {"é😀": []}}', 14],
    ['"without end', 2],
    [String.raw`"\\\"`, 2],
  ])('countStructuralBytes counts the bytes of %s that are not inside strings', (json, bytes) => {
    expect(count(json)).toEqual({ bytes })
  })

  it('countStructuralBytes reports a text over the limits of bytes and depth', () => {
    expect(count('[],'.repeat(10), 20).problem).toBe('has more than 20 bytes outside of strings')
    expect(count('['.repeat(5_000))).toEqual({ bytes: 5_000 })
    expect(count('{"a":'.repeat(5_001)).problem).toMatch(/more than 5000 levels/)
    expect(count('[]'.repeat(10_000))).toEqual({ bytes: 20_000 })
  })

  it('countStructuralBytes skips strings of escapes in linear time', () => {
    const begun = performance.now()
    expect(count(`"${'\\"'.repeat(2_000_000)}"`)).toEqual({ bytes: 2 })
    expect(performance.now() - begun).toBeLessThan(10_000)
  })
})
