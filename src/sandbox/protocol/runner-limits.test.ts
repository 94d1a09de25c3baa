import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../../common/limits.js'
import { runnerFrameLimits } from './runner-limits.js'

const limits = (argumentBytes: number) => runnerFrameLimits({ ...defaultLimits, argumentBytes })

describe('runnerFrameLimits', () => {
  it('by default reads 3.6 MB, and of them 320 KiB outside of strings', () => {
    expect(limits(defaultLimits.argumentBytes)).toEqual({ bytes: 3_593_216, structure: 320 * 1024 })
  })

  it('makes room for larger arguments, but for no more bytes outside of strings', () => {
    expect(limits(4_000_000).bytes).toBeGreaterThan(4_000_000 + 16 * defaultLimits.capturedCharacters)
    expect(limits(4_000_000).structure).toBe(320 * 1024)
  })
})
