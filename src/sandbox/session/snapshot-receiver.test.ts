import { afterEach, describe, expect, it, vi } from 'vitest'
import { defaultLimits } from '../../common/run/limits.js'
import { HostileRunner } from '../../../test/support/faults/hostile-runner.js'
import { SessionDriver } from './session-driver.js'

function drive() {
  const runner = new HostileRunner()
  const driver = new SessionDriver(runner, {
    session: 's',
    epoch: 3,
    seed: 1,
    startedAt: 0,
    tools: [],
    limits: defaultLimits,
    resume: false,
  })
  return { runner, driver }
}

afterEach(() => void vi.useRealTimers())

describe('a snapshot request', () => {
  const limits = { bytes: 100, seconds: 5 }
  const fence = [3, 4, 1_000_001]
  const piece = (number: number, text: string, last = false) => ({
    type: 'snapshot',
    step: 4,
    fence,
    piece: number,
    text,
    last,
  })
  const requestSnapshot = async (...messages: readonly Record<string, unknown>[]) => {
    const { runner, driver } = drive()
    const snapshot = driver.snapshot(4, 1, limits, new AbortController().signal)
    for (const message of messages) runner.emit(message)
    return { runner, driver, snapshot: await snapshot }
  }

  it('a snapshot request has a fence above every attempt of the step, and returns the pieces', async () => {
    const { runner, snapshot } = await requestSnapshot(piece(0, 'YWJj'), piece(1, 'ZA==', true))
    expect(snapshot).toEqual({ type: 'snapshot', pieces: ['YWJj', 'ZA=='] })
    expect(runner.hostMessages).toMatchObject([
      { type: 'hello' },
      { type: 'snapshot', fence, step: 4, bytes: 100, seconds: 5 },
    ])
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['the program can not be serialized', { type: 'no_snapshot', step: 4, fence, reason: 'x: a task' }, 'x: a task'],
    ['a newer driver exists', { type: 'refused', step: 4, fence, kind: 'fenced', reason: 'older' }, 'older'],
    ['its pieces are out of order', piece(1, 'YWJj', true), 'snapshot pieces out of order'],
    ['it exceeds its size limit', piece(0, 'YWJj'.repeat(2_000)), 'the snapshot exceeds its size limit'],
  ])('a snapshot request returns the reason when %s', async (_, message, reason) => {
    const { snapshot, driver } = await requestSnapshot(message)
    expect(snapshot).toEqual({ type: 'no_snapshot', reason })
    expect(driver.isLost).toBe(false)
  })

  it('a snapshot request ignores pieces with another fence', async () => {
    const { snapshot } = await requestSnapshot(
      { ...piece(0, 'eA==', true), fence: [3, 4, 1_000_002] },
      piece(0, 'YQ==', true),
    )
    expect(snapshot).toEqual({ type: 'snapshot', pieces: ['YQ=='] })
  })

  it('a snapshot request rejects pieces that are not Base64', async () => {
    const { driver, snapshot } = await requestSnapshot(piece(0, '"}'))
    expect(snapshot).toMatchObject({ type: 'no_snapshot', reason: expect.stringContaining('broke the protocol') })
    expect(driver.isLost).toBe(true)
  })

  it('a snapshot request kills a sandbox that does not respond, with a cause that blames no cell', async () => {
    vi.useFakeTimers()
    const { driver } = drive()
    const snapshot = driver.snapshot(4, 1, limits, new AbortController().signal)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await snapshot).toMatchObject({ type: 'no_snapshot' })
    const step = { number: 5, now: 0, input: { type: 'cell', cell: 1, source: 'x' } } as const
    const options = { attempt: 1, onOutput: () => undefined, readValue: () => [] as never }
    expect(await driver.executeStep(step, options)).toMatchObject({ type: 'lost', cause: 'gone' })
  })
})
