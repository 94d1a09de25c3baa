import { afterEach, describe, expect, it, vi } from 'vitest'
import { HostileRunner } from '../../test/support/hostile-runner.js'
import { PtcError } from '../common/errors.js'
import { defaultLimits } from '../common/limits.js'
import type { Step, StepAnswer } from '../common/steps.js'
import { heldElsewhere } from '../common/values.js'
import { deferred } from './deferred.js'
import { SessionDriver } from './session-driver.js'
import type { ReadValue } from './value-transfer.js'

const limits = { ...defaultLimits, cellSeconds: 2, frameBytes: 2_400 }

const reading = (...chunks: readonly string[]): ReadValue =>
  async function* () {
    yield* chunks
  }

/** A driver, and a runner that is ready and takes what it is given. */
function drive(readyStep = 0) {
  const runner = new HostileRunner()
  runner.onMessage = (type) => {
    if (type === 'hello') runner.say({ type: 'ready', protocol: 2, session: 's', step: readyStep, language: 'Python' })
    if (type === 'advance') runner.say({ type: 'completed', step: 5, output: 'done' })
  }
  const driver = new SessionDriver(runner, { session: 's', epoch: 1, seed: 1, tools: [], limits, resume: false })
  const value = heldElsewhere({ sha256: 'a', bytes: 1, preview: '' })
  const step: Step = {
    number: 5,
    now: 0,
    input: { type: 'results', results: [{ index: 1, outcome: { status: 'ok', value } }] },
  }
  const advance = (readValue: ReadValue, attempt = 1): Promise<StepAnswer> =>
    driver.advance(step, { attempt, onOutput: () => undefined, readValue })
  /** What the runner has heard: the type, and of a piece its number. */
  const heard = (): string[] =>
    runner.heard.map((message) =>
      message.type === 'value' ? `${message.piece}${message.last ? '.' : ''}` : message.type,
    )
  return { runner, driver, advance, heard }
}

const done = { type: 'completed', output: 'done' }
const incomplete = { type: 'refused', step: 4, fence: [1, 5, 1], kind: 'incomplete', reason: 'a piece is missing' }

afterEach(() => void vi.useRealTimers())

describe('a step that needs a value', () => {
  it('is sent behind the pieces of it, and those only when the runner is ready', async () => {
    const { advance, heard, runner } = drive()
    expect(await advance(reading('x'.repeat(150), 'y'.repeat(150)))).toEqual(done)
    expect(heard()).toEqual(['hello', '0', '1', '2.', 'advance'])
    expect(runner.heard.map((message) => (message.type === 'value' ? message.text : '')).join('')).toBe(
      'x'.repeat(150) + 'y'.repeat(150),
    )
  })

  it('is sent alone to a runner that has taken it before', async () => {
    const { advance, heard } = drive(5)
    expect(await advance(reading('x'))).toEqual(done)
    expect(heard()).toEqual(['hello', 'advance'])
  })

  it('is not sent when the value can not be read, and can be asked again', async () => {
    const { advance, heard } = drive()
    const corrupt: ReadValue = async function* () {
      yield 'x'.repeat(150)
      throw new PtcError('VALUE_CORRUPT', 'other bytes')
    }
    await expect(advance(corrupt)).rejects.toMatchObject({ code: 'VALUE_CORRUPT' })
    expect(heard()).toEqual(['hello', '0'])
    expect(await advance(reading('x'))).toEqual(done)
    expect(heard()).toEqual(['hello', '0', '0.', 'advance'])
  })

  it('waits for room before it reads on', async () => {
    const { advance, runner } = drive()
    const room = deferred<void>()
    let read = 0
    const counting: ReadValue = async function* () {
      for (; read < 50; read += 1) yield 'x'.repeat(100)
    }
    const { onMessage } = runner
    runner.onMessage = (type) => {
      onMessage(type)
      if (type === 'value') runner.room = room.promise
    }
    const answer = advance(counting)
    await vi.waitFor(() => expect(runner.heard).toHaveLength(2))
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(read).toBeLessThan(3)
    room.resolve()
    expect(await answer).toEqual(done)
  })

  it('begins again when some of it did not arrive, and not for ever', async () => {
    const { advance, heard, runner, driver } = drive()
    let times = 2
    runner.onMessage = (type) => {
      if (type === 'hello') runner.say({ type: 'ready', protocol: 2, session: 's', step: 4, language: 'Python' })
      if (type !== 'advance') return
      times -= 1
      runner.say(times >= 0 ? incomplete : { type: 'completed', step: 5, output: 'done' })
    }
    expect(await advance(reading('x'))).toEqual(done)
    expect(heard()).toEqual(['hello', '0.', 'advance', '0.', 'advance', '0.', 'advance'])
    times = 1_000
    runner.say({ ...incomplete, fence: [1, 5, 2] })
    const { onMessage } = runner
    runner.onMessage = (type) => {
      if (type === 'advance') runner.say({ ...incomplete, fence: [1, 5, 2] })
      else onMessage(type)
    }
    expect(await advance(reading('x'), 2)).toMatchObject({ type: 'lost', cause: 'protocol' })
    expect(driver.isLost).toBe(true)
  })

  it('is taken over by a later attempt, and both get the answer', async () => {
    const { advance, heard } = drive()
    let ended: unknown
    const endless: ReadValue = async function* (_ref, signal) {
      yield 'x'.repeat(150)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      ended = signal.aborted
    }
    const first = advance(endless, 1)
    await vi.waitFor(() => expect(heard()).toEqual(['hello', '0']))
    const second = advance(reading('x'), 2)
    expect(await Promise.all([first, second])).toEqual([done, done])
    expect(heard()).toEqual(['hello', '0', '0.', 'advance'])
    await vi.waitFor(() => expect(ended).toBe(true))
  })

  it('is lost when the sandbox ends meanwhile, and reading stops even if the source does not', async () => {
    const { advance, heard, runner } = drive()
    const answer = advance(async function* () {
      yield 'x'.repeat(150)
      await new Promise(() => undefined)
    })
    await vi.waitFor(() => expect(heard()).toEqual(['hello', '0']))
    runner.end({ reason: 'disconnected', exitCode: null })
    expect(await answer).toMatchObject({ type: 'lost', cause: 'gone' })
  })

  it('has its time from when its values are there; a piece that nobody takes has as much', async () => {
    vi.useFakeTimers()
    const { advance, runner } = drive()
    const answer = advance(async function* () {
      yield 'x'.repeat(150)
      await new Promise((resolve) => setTimeout(resolve, 60_000))
      runner.room = new Promise(() => undefined)
    })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(runner.killed).toBe(false)
    await vi.advanceTimersByTimeAsync(5_100)
    expect(await answer).toMatchObject({ type: 'lost', cause: 'killed_at_limit' })
    expect(runner.killed).toBe(true)
  })
})
