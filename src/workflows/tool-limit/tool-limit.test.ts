import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  fakeWorkflow,
  passTime,
  settle,
  startFakeWorkflow,
  takeSent,
} from '../../../test/support/workflow/fake-workflow.js'
import { maxWaitingForSlot, type SlotAnswer, type SlotRequest } from '../../common/calls/tool-slots.js'
import { ToolLimit } from './tool-limit.js'

vi.mock('@temporalio/workflow', async () => {
  const { fakeWorkflowModule } = await import('../../../test/support/workflow/fake-workflow.js')
  return fakeWorkflowModule
})

const seconds = 1_000
const minutes = 60 * seconds

beforeEach(() => startFakeWorkflow({ workflowId: 'limiter' }))
afterEach(() => void vi.useRealTimers())

const requestOf = (key: string, slots = 1, maxHoldMs = 60 * minutes): SlotRequest => ({
  key,
  workflowId: `run-of-${key}`,
  slots,
  maxHoldMs,
})

/** A limiter that has got these requests, in this order. */
function limitWith(...requests: readonly SlotRequest[]): ToolLimit {
  const limit = new ToolLimit()
  for (const request of requests) limit.request(request)
  return limit
}

/** The answers since the last call, each as `key answer`. */
function answers(): readonly string[] {
  return takeSent().map(({ workflowId, signal, input }) => {
    const { key, limiter, answer } = input as {
      readonly key: string
      readonly limiter: string
      readonly answer: string
    }
    expect({ workflowId, signal, limiter }).toEqual({
      workflowId: `run-of-${key}`,
      signal: 'ptc.slotAnswer',
      limiter: 'limiter',
    })
    return `${key} ${answer}`
  })
}

describe('the slots of a tool', () => {
  it('calls get the slots of a tool in the order of their requests, as many as the tool has', () => {
    const limit = limitWith(requestOf('a', 2), requestOf('b', 2), requestOf('c', 2), requestOf('d', 2))
    expect(answers()).toEqual(['a granted', 'b granted'])
    expect(fakeWorkflow.currentDetails).toBe('2 of 2 slots in use, 2 calls waiting')
    limit.release({ key: 'b' })
    expect(answers()).toEqual(['c granted'])
    limit.release({ key: 'a' })
    limit.release({ key: 'c' })
    expect(answers()).toEqual(['d granted'])
    expect(limit.isIdle).toBe(false)
    limit.release({ key: 'd' })
    expect(limit.isIdle).toBe(true)
    expect(fakeWorkflow.currentDetails).toBe('0 of 2 slots in use, 0 calls waiting')
  })

  it('a slot is granted once, also after repeated requests and releases', () => {
    const limit = limitWith(requestOf('a'), requestOf('b'), requestOf('c'))
    limit.request(requestOf('a'))
    expect(answers()).toEqual(['a granted', 'a granted'])
    limit.request(requestOf('b')) // keeps its place
    limit.release({ key: 'unknown' })
    expect(answers()).toEqual([])
    limit.release({ key: 'a' })
    limit.release({ key: 'a' })
    expect(answers()).toEqual(['b granted'])
    limit.release({ key: 'c' }) // no longer waits
    limit.release({ key: 'b' })
    expect(answers()).toEqual([])
    expect(limit.isIdle).toBe(true)
  })

  it('the number of slots follows the latest limit', () => {
    const limit = limitWith(requestOf('a', 3), requestOf('b', 3), requestOf('c', 3), requestOf('d', 1))
    expect(answers()).toEqual(['a granted', 'b granted', 'c granted'])
    limit.release({ key: 'a' })
    limit.release({ key: 'b' })
    expect(answers()).toEqual([])
    limit.release({ key: 'c' })
    expect(answers()).toEqual(['d granted'])
    limit.request(requestOf('e', 1))
    expect(answers()).toEqual([])
    limit.request(requestOf('f', 3))
    expect(answers()).toEqual(['e granted', 'f granted'])
  })

  it('a slot is refused when too many calls wait, but not to a call that waits already', () => {
    const limit = limitWith(requestOf('holder'))
    for (let n = 0; n < maxWaitingForSlot; n += 1) limit.request(requestOf(`w${n}`))
    expect(answers()).toEqual(['holder granted'])
    limit.request(requestOf('w0'))
    expect(answers()).toEqual([])
    limit.request(requestOf('late'))
    expect(answers()).toEqual(['late refused'])
    limit.release({ key: 'w1' })
    limit.request(requestOf('late'))
    expect(answers()).toEqual([])
  })
})

describe('slots that runs may keep', () => {
  const keepable = (key: string, slots = 1): SlotRequest => ({ ...requestOf(key, slots), mayKeep: true })
  /** The answers since the last call: how long the run may keep each slot. */
  const grants = () =>
    takeSent().map(({ input }) => {
      const { key, keepMs, isRecalled = false } = input as SlotAnswer
      return `${key} ${keepMs === undefined ? 'one call' : `${keepMs} ms`}${isRecalled ? ', recalled' : ''}`
    })

  it('a run may keep a slot without a lock for a minute while nobody waits', () => {
    limitWith(keepable('a', 3), requestOf('b', 3), { ...keepable('c', 3), lock: 'x' })
    expect(grants()).toEqual(['a 60000 ms', 'b one call', 'c one call'])
  })

  it('slots are recalled once when a call waits, and granted for a turn while others wait', () => {
    const limit = limitWith(keepable('a', 2), requestOf('b', 2), keepable('c', 2), keepable('d', 2))
    expect(grants()).toEqual(['a 60000 ms', 'b one call', 'a 500 ms, recalled'])
    limit.release({ key: 'a' })
    expect(grants()).toEqual(['c 500 ms, recalled'])
    limit.release({ key: 'b' })
    limit.release({ key: 'c' })
    limit.request(keepable('e', 2))
    expect(grants()).toEqual(['d 60000 ms', 'e 60000 ms'])
  })

  it('a slot that no call waits for is recalled after a minute', async () => {
    const limit = limitWith(keepable('a'))
    expect(grants()).toEqual(['a 60000 ms'])
    await passTime(60 * seconds - 1)
    expect(grants()).toEqual([])
    await passTime(1)
    expect(grants()).toEqual(['a 500 ms, recalled'])
    await passTime(60 * minutes - 1)
    expect(grants()).toEqual([])
    expect(limit.isIdle).toBe(false)
    await passTime(1) // the last call may have begun when the slot was recalled
    expect(limit.isIdle).toBe(true)
  })

  it('a run that has ended with a kept slot loses it when a call waits', async () => {
    const limit = limitWith(keepable('a'))
    await settle()
    fakeWorkflow.deliver = ({ workflowId }) =>
      workflowId === 'run-of-a' ? Promise.reject(new Error('not found')) : Promise.resolve()
    limit.request(keepable('b'))
    await settle()
    expect(grants()).toEqual(['a 60000 ms', 'a 500 ms, recalled', 'b 60000 ms'])
  })

  it('the next execution of the limiter recalls the slots that runs keep', async () => {
    const limit = limitWith(keepable('a', 2), keepable('b', 2))
    await passTime(30 * seconds)
    grants()
    const next = new ToolLimit(structuredClone(limit.state))
    await passTime(20 * seconds)
    next.request(keepable('c', 2))
    expect(grants()).toEqual(['a 500 ms, recalled', 'b 500 ms, recalled'])
    const last = new ToolLimit(structuredClone(next.state))
    expect(grants()).toEqual([])
    last.release({ key: 'a' })
    expect(grants()).toEqual(['c 60000 ms'])
  })
})

describe('the locks of a tool', () => {
  const lockedBy = (key: string, lock: string): SlotRequest => ({ ...requestOf(key, 3), lock })

  it('two calls with the same lock never have a slot at the same time, and other calls pass the one that waits', () => {
    const limit = limitWith(lockedBy('a', 'x'), lockedBy('b', 'x'), lockedBy('c', 'y'), requestOf('d', 3))
    expect(answers()).toEqual(['a granted', 'c granted', 'd granted'])
    limit.release({ key: 'c' })
    expect(answers()).toEqual([])
    limit.release({ key: 'a' })
    expect(answers()).toEqual(['b granted'])
  })

  it('calls with the same lock get it in the order of their requests', () => {
    const limit = limitWith(lockedBy('a', 'x'), lockedBy('b', 'x'), lockedBy('c', 'x'))
    for (const key of ['a', 'b', 'c']) {
      expect(answers()).toEqual([`${key} granted`])
      limit.release({ key })
    }
    expect(limit.isIdle).toBe(true)
  })

  it('a call needs a slot of the tool, too, and holds no lock while it waits for the slot', () => {
    const limit = limitWith({ ...requestOf('a', 1), lock: 'x' }, { ...requestOf('b', 1), lock: 'y' })
    limit.request({ ...requestOf('c', 1), lock: 'x' })
    expect(answers()).toEqual(['a granted'])
    limit.release({ key: 'a' })
    expect(answers()).toEqual(['b granted'])
    limit.release({ key: 'b' })
    expect(answers()).toEqual(['c granted'])
  })

  it('a lock is free again when the server finds that its run has ended, and after the maximum duration', async () => {
    fakeWorkflow.deliver = ({ workflowId }) =>
      workflowId === 'run-of-a' ? Promise.reject(new Error('not found')) : Promise.resolve()
    const limit = limitWith(lockedBy('a', 'x'), { ...lockedBy('b', 'x'), maxHoldMs: 3 * seconds }, lockedBy('c', 'x'))
    await settle()
    expect(answers()).toEqual(['a granted', 'b granted'])
    await passTime(3 * seconds)
    expect(answers()).toEqual(['c granted'])
    expect(limit.state.holders).toMatchObject([{ key: 'c', lock: 'x' }])
  })

  it('the next execution of the limiter keeps the locks of holders and of waiting calls', () => {
    const limit = limitWith(lockedBy('a', 'x'), lockedBy('b', 'x'), lockedBy('c', 'x'))
    answers()
    const next = new ToolLimit(structuredClone(limit.state))
    answers()
    next.request(lockedBy('d', 'y'))
    expect(answers()).toEqual(['d granted'])
    next.release({ key: 'a' })
    expect(answers()).toEqual(['b granted'])
  })
})

describe('a slot is free again', () => {
  it('a slot is free again when the server finds that its run has ended', async () => {
    fakeWorkflow.deliver = ({ workflowId }) =>
      workflowId === 'run-of-a' ? Promise.reject(new Error('not found')) : Promise.resolve()
    const limit = limitWith(requestOf('a'), requestOf('b'))
    expect(answers()).toEqual(['a granted'])
    await settle()
    expect(answers()).toEqual(['b granted'])
    expect(limit.state).toMatchObject({ holders: [{ key: 'b', isDelivered: true }], waiting: [] })
  })

  it('a slot is free again after the maximum duration of its call, also when no other call waits', async () => {
    const limit = limitWith(requestOf('a', 1, 30 * minutes))
    await passTime(30 * minutes - 1)
    expect(limit.isIdle).toBe(false)
    await passTime(1)
    expect(limit.isIdle).toBe(true)
    limit.request(requestOf('b', 1, 4 * seconds))
    limit.request(requestOf('c'))
    answers()
    await passTime(4 * seconds)
    expect(answers()).toEqual(['c granted'])
  })

  it('a failed delivery to a call that has given its slot back meanwhile frees no other slot', async () => {
    fakeWorkflow.deliver = failFirst
    const limit = limitWith(requestOf('a'))
    limit.release({ key: 'a' })
    limit.request(requestOf('a'))
    await passTime(1 * seconds) // the first grant has failed, and the second one is on its way
    limit.request(requestOf('b'))
    expect(answers()).toEqual(['a granted', 'a granted'])
  })
})

/** The first signal fails after half a second; no later one is delivered. */
function failFirst(): Promise<void> {
  const isFirst = fakeWorkflow.sent.length === 1
  return new Promise((_resolve, reject) => {
    if (isFirst) setTimeout(() => reject(new Error('not found')), 500)
  })
}

describe('while calls wait', () => {
  it('while calls wait, holders are checked after 5 s, then each time after twice as long, up to 10 min', async () => {
    limitWith(requestOf('a', 1, 24 * 60 * minutes), requestOf('b'))
    answers()
    for (const pause of [5, 10, 20, 40, 80, 160, 320, 600, 600]) {
      await passTime(pause * seconds - 1)
      expect(answers()).toEqual([])
      await passTime(1)
      expect(answers()).toEqual(['a granted'])
    }
  })

  it('holders of slots are checked only while calls wait, and at once when a later call arrives', async () => {
    const limit = limitWith(requestOf('a'))
    await passTime(10 * minutes)
    expect(answers()).toEqual(['a granted'])
    limit.request(requestOf('b'))
    expect(answers()).toEqual(['a granted'])
    await passTime(10 * seconds)
    expect(answers()).toEqual(['a granted'])
  })
})

describe('the next execution of the limiter', () => {
  it('the next execution of the limiter has holders and waiting calls, and repeats undelivered grants', async () => {
    fakeWorkflow.deliver = ({ workflowId }) =>
      workflowId === 'run-of-b' ? new Promise(() => undefined) : Promise.resolve()
    const limit = limitWith(requestOf('a', 2), requestOf('b', 2), requestOf('c', 2), requestOf('d', 2))
    await settle()
    answers()
    expect(limit.hasGranted).toBe(true)
    const state = structuredClone(limit.state)

    startFakeWorkflow({ workflowId: 'limiter' })
    const next = new ToolLimit(state)
    expect(answers()).toEqual(['b granted'])
    expect(next.state).toMatchObject({ slots: 2, waiting: [{ key: 'c' }, { key: 'd' }] })
    next.release({ key: 'a' })
    expect(answers()).toEqual(['c granted'])
    await passTime(5 * seconds)
    expect(answers()).toEqual(['b granted', 'c granted'])
    expect(next.state.holders.map(({ key, isDelivered }) => ({ key, isDelivered }))).toEqual([
      { key: 'b', isDelivered: true },
      { key: 'c', isDelivered: true },
    ])
  })

  it('the next execution of the limiter frees a slot at the same time as without continue-as-new', async () => {
    const limit = limitWith(requestOf('a', 1, 30 * minutes))
    await passTime(20 * minutes)
    const next = new ToolLimit(structuredClone(limit.state))
    expect(next.hasGranted).toBe(false)
    await passTime(10 * minutes)
    expect(next.isIdle).toBe(true)
  })
})
