import { afterEach, describe, expect, it, vi } from 'vitest'
import { defaultLimits } from '../common/limits.js'
import { HostileRunner } from '../../test/support/hostile-runner.js'
import { SessionDriver } from './session-driver.js'

function drive() {
  const runner = new HostileRunner()
  const limits = { ...defaultLimits, frameBytes: 100_000 }
  const driver = new SessionDriver(runner, {
    session: 's',
    epoch: 3,
    seed: 1,
    startedAt: 0,
    tools: [],
    limits,
    resume: false,
  })
  return { runner, driver }
}

const completed = (step: number) => ({ type: 'completed', step, output: '' })

afterEach(() => void vi.useRealTimers())

describe('a sandbox that is asked for a snapshot', () => {
  const wanted = { bytes: 100, seconds: 5 }
  const fence = [3, 4, 1_000_001]
  const piece = (number: number, text: string, last = false) => ({
    type: 'snapshot',
    step: 4,
    fence,
    piece: number,
    text,
    last,
  })
  const ask = async (...said: readonly Record<string, unknown>[]) => {
    const { runner, driver } = drive()
    const snapshot = driver.snapshot(4, 1, wanted, new AbortController().signal)
    for (const each of said) runner.say(each)
    return { runner, driver, snapshot: await snapshot }
  }

  it('asks behind a greeting, above every attempt of the step, and gives the pieces', async () => {
    const { runner, snapshot } = await ask(piece(0, 'YWJj'), piece(1, 'ZA==', true))
    expect(snapshot).toEqual({ type: 'snapshot', pieces: ['YWJj', 'ZA=='] })
    expect(runner.heard).toMatchObject([
      { type: 'hello' },
      { type: 'snapshot', fence, step: 4, bytes: 100, seconds: 5 },
    ])
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['a runner that knows none repeats its answer', completed(4), 'this sandbox can not make one'],
    ['the program can not be kept', { type: 'no_snapshot', step: 4, fence, reason: 'x: a task' }, 'x: a task'],
    ['somebody newer drives', { type: 'refused', step: 4, fence, kind: 'fenced', reason: 'older' }, 'older'],
    ['its parts are in disorder', piece(1, 'YWJj', true), 'its parts came in disorder'],
    ['it is larger than it may be', piece(0, 'YWJj'.repeat(2_000)), 'it is too large'],
  ])('gives why there is none when %s', async (_, said, reason) => {
    const { snapshot, driver } = await ask(said)
    expect(snapshot).toEqual({ type: 'no_snapshot', reason })
    expect(driver.isLost).toBe(false)
  })

  it('hears no answer that is for somebody else', async () => {
    const { snapshot } = await ask({ ...piece(0, 'eA==', true), fence: [3, 4, 1_000_002] }, piece(0, 'YQ==', true))
    expect(snapshot).toEqual({ type: 'snapshot', pieces: ['YQ=='] })
  })

  it('takes nothing that is not Base64', async () => {
    const { driver, snapshot } = await ask(piece(0, '"}'))
    expect(snapshot).toMatchObject({ type: 'no_snapshot', reason: expect.stringContaining('broke the protocol') })
    expect(driver.isLost).toBe(true)
  })

  it('ends a sandbox that never answers, and no cell is to blame', async () => {
    vi.useFakeTimers()
    const { driver } = drive()
    const snapshot = driver.snapshot(4, 1, wanted, new AbortController().signal)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await snapshot).toMatchObject({ type: 'no_snapshot' })
    const step = { number: 5, now: 0, input: { type: 'cell', cell: 1, source: 'x' } } as const
    const options = { attempt: 1, onOutput: () => undefined, readValue: () => [] as never }
    expect(await driver.advance(step, options)).toMatchObject({ type: 'lost', cause: 'gone' })
  })
})
