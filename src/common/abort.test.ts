import { describe, expect, it, vi } from 'vitest'
import { underOwnSignal, unlessAborted } from './abort.js'

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

describe('underOwnSignal', () => {
  it('leaves nothing on a signal that lives longer, whatever the work hangs on its own', async () => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    const hang = (own: AbortSignal): Promise<number> => {
      own.addEventListener('abort', () => undefined)
      return Promise.resolve(1)
    }
    expect(await underOwnSignal(signal, hang)).toBe(1)
    const broken = () => Promise.reject(new Error('broken'))
    await expect(underOwnSignal(signal, broken)).rejects.toThrow('broken')
    expect(added).toHaveBeenCalledTimes(2)
    expect(removed.mock.calls).toEqual(added.mock.calls.map(([name, listener]) => [name, listener]))
  })

  it('tells the work when the signal is aborted, before or after', async () => {
    const controller = new AbortController()
    const reason = (own: AbortSignal) =>
      new Promise((resolve) => {
        if (own.aborted) resolve(own.reason)
        own.addEventListener('abort', () => resolve(own.reason))
      })
    const working = underOwnSignal(controller.signal, reason)
    controller.abort('enough')
    expect(await working).toBe('enough')
    expect(await underOwnSignal(controller.signal, reason)).toBe('enough')
  })
})
