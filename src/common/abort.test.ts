import { describe, expect, it, vi } from 'vitest'
import { unlessAborted } from './abort.js'

const never = new Promise<never>(() => undefined)

describe('unlessAborted', () => {
  it('gives what the work gives, and leaves nothing on a signal that lives longer', async () => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    expect(await unlessAborted(signal, Promise.resolve(1))).toBe(1)
    await expect(unlessAborted(signal, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(added).toHaveBeenCalledTimes(2)
    expect(removed.mock.calls).toEqual(added.mock.calls.map(([name, listener]) => [name, listener]))
  })

  it('waits no longer than the signal, before or after', async () => {
    const controller = new AbortController()
    const waiting = unlessAborted(controller.signal, never)
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(unlessAborted(controller.signal, never)).rejects.toThrow('enough')
  })
})
