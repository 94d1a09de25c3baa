import { expect, it } from 'vitest'
import { limitBuffers } from './limit-buffers.js'

it('a buffer over the limit is refused, and others are as before', () => {
  const original = globalThis.Uint8Array
  try {
    limitBuffers(1_000)
    expect(() => new Uint8Array(1_001)).toThrow('it needs over 1000 bytes of memory')
    const buffer = new Uint8Array(1_000)
    expect([buffer.length, buffer instanceof Uint8Array, buffer instanceof original]).toEqual([1_000, true, true])
    expect(Uint8Array.from([1, 2])).toEqual(original.of(1, 2))
  } finally {
    globalThis.Uint8Array = original
  }
})
