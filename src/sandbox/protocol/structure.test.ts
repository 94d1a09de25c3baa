import { describe, expect, it } from 'vitest'
import { measureStructure } from './structure.js'

const measure = (json: string, limit = 1_000_000): number => measureStructure(Buffer.from(json), limit)

describe('measureStructure', () => {
  it.each([
    ['{}', 2],
    ['[1,2]', 5],
    ['"a, [b"', 2],
    [String.raw`["\"[[[[", "\\"]`, 8],
    ['{"a": {"é😀": []}}', 14],
    ['"without end', 2],
    [String.raw`"\\\"`, 2],
  ])('counts the bytes of %s that are not inside strings', (json, count) => {
    expect(measure(json)).toBe(count)
  })

  it('stops at the limit, and at a depth that no runner reaches', () => {
    expect(() => measure('[],'.repeat(10), 20)).toThrowError(
      expect.objectContaining({
        code: 'SANDBOX_PROTOCOL',
        message: expect.stringMatching(/20 bytes outside of strings/),
      }),
    )
    expect(measure('['.repeat(5_000))).toBe(5_000)
    expect(() => measure('{"a":'.repeat(5_001))).toThrowError(/more than 5000 levels/)
    expect(measure('[]'.repeat(10_000))).toBe(20_000)
  })

  it('reads strings of escapes in linear time', () => {
    const begun = performance.now()
    expect(measure(`"${'\\"'.repeat(2_000_000)}"`)).toBe(2)
    expect(performance.now() - begun).toBeLessThan(10_000)
  })
})
