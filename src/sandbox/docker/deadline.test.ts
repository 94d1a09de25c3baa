import { expect, test } from 'vitest'
import { DeadlineError, withDeadline } from './deadline.js'

const hangs = () => new Promise<never>(() => {})

test('work that hangs and ignores its signal is left behind', async () => {
  await expect(withDeadline(10, undefined, hangs)).rejects.toBeInstanceOf(DeadlineError)
})

test('an outer abort ends the wait with its own reason', async () => {
  const controller = new AbortController()
  const waiting = withDeadline(10_000, controller.signal, hangs)
  controller.abort(new Error('cancelled'))
  await expect(waiting).rejects.toThrow('cancelled')
})

test('work does not begin after the abort', async () => {
  let begun = false
  const work = async () => void (begun = true)
  await expect(withDeadline(10, AbortSignal.abort(new Error('cancelled')), work)).rejects.toThrow('cancelled')
  expect(begun).toBe(false)
})

test('the signal of work that is done never fires', async () => {
  const controller = new AbortController()
  const signal = await withDeadline(10, controller.signal, async (inner) => inner)
  controller.abort()
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(signal.aborted).toBe(false)
})
