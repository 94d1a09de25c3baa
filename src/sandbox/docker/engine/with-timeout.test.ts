import { expect, test } from 'vitest'
import { TimeoutError, withTimeout } from './with-timeout.js'

const hangs = () => new Promise<never>(() => {})

test('withTimeout rejects at the timeout even if the work ignores its signal', async () => {
  await expect(withTimeout(10, undefined, hangs)).rejects.toBeInstanceOf(TimeoutError)
})

test('withTimeout rejects with the reason of the outer signal', async () => {
  const controller = new AbortController()
  const waiting = withTimeout(10_000, controller.signal, hangs)
  controller.abort(new Error('cancelled'))
  await expect(waiting).rejects.toThrow('cancelled')
})

test('withTimeout does not start the work after an abort', async () => {
  let begun = false
  const work = async () => void (begun = true)
  await expect(withTimeout(10, AbortSignal.abort(new Error('cancelled')), work)).rejects.toThrow('cancelled')
  expect(begun).toBe(false)
})

test('withTimeout never aborts the signal of completed work', async () => {
  const controller = new AbortController()
  const signal = await withTimeout(10, controller.signal, async (inner) => inner)
  controller.abort()
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(signal.aborted).toBe(false)
})
