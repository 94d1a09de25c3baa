import { describe, expect, it } from 'vitest'
import { capturedCharacters, defaultLimits } from '../../common/run/limits.js'
import { runnerFrameLimits } from './runner-limits.js'

const limits = (argumentBytes: number) => runnerFrameLimits({ ...defaultLimits, argumentBytes })

describe('runnerFrameLimits', () => {
  it('frames of a runner have at most 8.4 MB by default, and 320 KiB outside of strings', () => {
    expect(limits(defaultLimits.argumentBytes)).toEqual({ bytes: 8_393_216, structuralBytes: 320 * 1024 })
  })

  it('the limits of frames grow with the size of arguments, except for bytes outside of strings', () => {
    expect(limits(4_000_000).bytes).toBeGreaterThan(4_000_000 + 8 * capturedCharacters)
    expect(limits(4_000_000).structuralBytes).toBe(320 * 1024)
  })
})
