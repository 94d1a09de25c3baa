import { describe, expect, it } from 'vitest'
import { countStructuralBytes } from './structural-bytes.js'

const countBytes = (json: string, bytes = 1_000_000): number =>
  countStructuralBytes(Buffer.from(json), { bytes, depth: 5_000 }, (problem) => new Error(`the text ${problem}`))

describe('countStructuralBytes', () => {
  it.each([
    ['{}', 2],
    ['[1,2]', 5],
    ['"a, [b"', 2],
    [String.raw`["\"[[[[", "\\"]`, 8],
    ['{"a": {"é😀": []}}', 14],
    ['"without end', 2],
    [String.raw`"\\\"`, 2],
  ])('countStructuralBytes counts the bytes of %s that are not inside strings', (json, count) => {
    expect(countBytes(json)).toBe(count)
  })

  it('countStructuralBytes throws at the limits of bytes and depth', () => {
    expect(() => countBytes('[],'.repeat(10), 20)).toThrowError('the text has more than 20 bytes outside of strings')
    expect(countBytes('['.repeat(5_000))).toBe(5_000)
    expect(() => countBytes('{"a":'.repeat(5_001))).toThrowError(/more than 5000 levels/)
    expect(countBytes('[]'.repeat(10_000))).toBe(20_000)
  })

  it('countStructuralBytes skips strings of escapes in linear time', () => {
    const begun = performance.now()
    expect(countBytes(`"${'\\"'.repeat(2_000_000)}"`)).toBe(2)
    expect(performance.now() - begun).toBeLessThan(10_000)
  })
})
