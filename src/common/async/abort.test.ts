import { describe, expect, it, vi } from 'vitest'
import {
  isTimeLimit,
  raceWithSignal,
  raceWithTimeLimit,
  waitForAbort,
  withAbortListener,
  withDerivedSignal,
  withTimeLimit,
} from './abort.js'

const never = new Promise<never>(() => undefined)

describe('waitForAbort', () => {
  it('waitForAbort resolves when the signal is aborted, before or during the wait', async () => {
    const controller = new AbortController()
    const waiting = waitForAbort(controller.signal)
    controller.abort()
    await waiting
    await waitForAbort(controller.signal)
  })
})

describe('withAbortListener', () => {
  it('withAbortListener calls the listener after an abort before or during the work, and not later', async () => {
    const onAbort = vi.fn()
    const ended = new AbortController()
    expect(await withAbortListener(ended.signal, onAbort, () => Promise.resolve(1))).toBe(1)
    ended.abort()
    expect(onAbort).not.toHaveBeenCalled()
    const controller = new AbortController()
    const abort = () => Promise.resolve(controller.abort())
    await withAbortListener(controller.signal, onAbort, abort)
    expect(onAbort).toHaveBeenCalledOnce()
    await withAbortListener(controller.signal, onAbort, () => Promise.resolve())
    expect(onAbort).toHaveBeenCalledTimes(2)
  })

  it('withAbortListener performs the work without a signal', async () => {
    expect(await withAbortListener(undefined, vi.fn(), () => Promise.resolve(1))).toBe(1)
  })
})

describe('raceWithSignal', () => {
  it('raceWithSignal settles like the work, and leaves no listener on a long-lived signal', async () => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    expect(await raceWithSignal(signal, Promise.resolve(1))).toBe(1)
    await expect(raceWithSignal(signal, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(added).toHaveBeenCalledTimes(2)
    expect(removed.mock.calls).toEqual(added.mock.calls.map(([name, listener]) => [name, listener]))
  })

  it('raceWithSignal rejects with the reason when the signal is aborted, before or during the work', async () => {
    const controller = new AbortController()
    const waiting = raceWithSignal(controller.signal, never)
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(raceWithSignal(controller.signal, never)).rejects.toThrow('enough')
  })
})

describe('withDerivedSignal', () => {
  it('withDerivedSignal leaves no listener on a long-lived signal, also if the work adds listeners', async () => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    const addListener = (own: AbortSignal): Promise<number> => {
      own.addEventListener('abort', () => undefined)
      return Promise.resolve(1)
    }
    expect(await withDerivedSignal(signal, addListener)).toBe(1)
    const broken = () => Promise.reject(new Error('broken'))
    await expect(withDerivedSignal(signal, broken)).rejects.toThrow('broken')
    expect(added).toHaveBeenCalledTimes(2)
    expect(removed.mock.calls).toEqual(added.mock.calls.map(([name, listener]) => [name, listener]))
  })

  it('withDerivedSignal aborts the derived signal with the given one, before or during the work', async () => {
    const controller = new AbortController()
    const reason = (own: AbortSignal) =>
      new Promise((resolve) => {
        if (own.aborted) resolve(own.reason)
        own.addEventListener('abort', () => resolve(own.reason))
      })
    const working = withDerivedSignal(controller.signal, reason)
    controller.abort('enough')
    expect(await working).toBe('enough')
    expect(await withDerivedSignal(controller.signal, reason)).toBe('enough')
  })
})

describe('withTimeLimit', () => {
  const untilAborted = async (signal: AbortSignal): Promise<unknown> => {
    await waitForAbort(signal)
    return signal.reason
  }

  it('withTimeLimit aborts the work after its time, or with the given signal', async () => {
    const controller = new AbortController()
    expect(await withTimeLimit(controller.signal, 1, untilAborted)).toMatchObject({ name: 'TimeoutError' })
    const working = withTimeLimit(controller.signal, 60_000, untilAborted)
    controller.abort('enough')
    expect(await working).toBe('enough')
  })

  it('withTimeLimit leaves no timer and no listener when the work settles', async () => {
    const { signal } = new AbortController()
    const removed = vi.spyOn(signal, 'removeEventListener')
    const cleared = vi.spyOn(globalThis, 'clearTimeout')
    expect(await withTimeLimit(signal, 60_000, () => Promise.resolve(1))).toBe(1)
    await expect(withTimeLimit(signal, 60_000, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect([removed.mock.calls.length, cleared.mock.calls.length]).toEqual([2, 2])
  })
})

describe('raceWithTimeLimit', () => {
  const hang = () => new Promise<never>(() => undefined)

  it('raceWithTimeLimit rejects after its time, or with the given signal, when the work ignores its signal', async () => {
    expect(isTimeLimit(await raceWithTimeLimit(undefined, 1, hang).catch((thrown: unknown) => thrown))).toBe(true)
    const controller = new AbortController()
    const waiting = raceWithTimeLimit(controller.signal, 60_000, hang)
    controller.abort('enough')
    await expect(waiting).rejects.toBe('enough')
    expect(isTimeLimit('enough')).toBe(false)
  })

  it('raceWithTimeLimit has the outcome of work that settles in time', async () => {
    expect(await raceWithTimeLimit(undefined, 60_000, () => Promise.resolve(1))).toBe(1)
    await expect(raceWithTimeLimit(undefined, 60_000, () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    )
  })
})
