import { afterEach, describe, expect, it, vi } from 'vitest'
import { HostileRunner } from '../../../test/support/faults/hostile-runner.js'
import { PtcError } from '../../common/errors.js'
import { defaultLimits } from '../../common/run/limits.js'
import type { Step, StepResult } from '../../common/session/steps.js'
import { externalValue } from '../../common/json/external-value.js'
import { deferred } from '../../common/async/deferred.js'
import { protocolVersion } from '../protocol/messages.js'
import { SessionDriver } from './session-driver.js'
import type { ReadValue } from './value-transfer.js'

const limits = { ...defaultLimits, cellSeconds: 2 }

const readerOf = (...chunks: readonly string[]): ReadValue =>
  async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }

/** The first one is sent when the second one has been read. */
const twoPieces = [Buffer.alloc(150, 'x'), Buffer.alloc(150, 'y')]

/** A driver, and a runner that is ready and accepts values and steps. */
function drive(readyStep = 0) {
  const runner = new HostileRunner()
  runner.onMessage = (type) => {
    if (type === 'hello')
      runner.emit({ type: 'ready', protocol: protocolVersion, session: 's', step: readyStep, language: 'Python' })
    if (type === 'resume') runner.emit({ type: 'completed', step: 5, output: 'done' })
  }
  const driver = new SessionDriver(runner, {
    session: 's',
    epoch: 1,
    seed: 1,
    startedAt: 0,
    tools: [],
    limits,
    frameBytes: 1_200,
    resume: false,
  })
  const value = externalValue({ sha256: 'a', bytes: 1, preview: '' })
  const step: Step = {
    number: 5,
    now: 0,
    input: { type: 'results', results: [{ index: 1, outcome: { status: 'ok', value } }] },
  }
  const executeStep = (readValue: ReadValue, attempt = 1): Promise<StepResult> =>
    driver.executeStep(step, { attempt, onOutput: () => undefined, readValue })
  /** The messages that the runner received: the type, or the number of a piece. */
  const receivedByRunner = (): string[] =>
    runner.hostMessages.map((message) =>
      message.type === 'value' ? `${message.piece}${message.last ? '.' : ''}` : message.type,
    )
  return { runner, driver, executeStep, receivedByRunner }
}

const done = { type: 'completed', output: 'done' }
const incomplete = { type: 'refused', step: 4, fence: [1, 5, 1], kind: 'incomplete', reason: 'a piece is missing' }

afterEach(() => void vi.useRealTimers())

describe('a step that needs a value', () => {
  it('a step that needs a value is sent after the pieces of the value, when the runner is ready', async () => {
    const { executeStep, receivedByRunner, runner } = drive()
    expect(await executeStep(readerOf('x'.repeat(150), 'y'.repeat(150)))).toEqual(done)
    expect(receivedByRunner()).toEqual(['hello', '0', '1.', 'resume'])
    expect(
      runner.hostMessages
        .map((message) => (message.type === 'value' ? Buffer.from(message.text).toString() : ''))
        .join(''),
    ).toBe('x'.repeat(150) + 'y'.repeat(150))
  })

  it('a step is sent without its value to a runner that has the step', async () => {
    const { executeStep, receivedByRunner } = drive(5)
    expect(await executeStep(readerOf('x'))).toEqual(done)
    expect(receivedByRunner()).toEqual(['hello', 'resume'])
  })

  it('a step is not sent when its value fails to load, and may be executed again', async () => {
    const { executeStep, receivedByRunner } = drive()
    const corrupt: ReadValue = async function* () {
      yield* twoPieces
      throw new PtcError('VALUE_CORRUPT', 'other bytes')
    }
    await expect(executeStep(corrupt)).rejects.toMatchObject({ code: 'VALUE_CORRUPT' })
    expect(receivedByRunner()).toEqual(['hello', '0'])
    expect(await executeStep(readerOf('x'))).toEqual(done)
    expect(receivedByRunner()).toEqual(['hello', '0', '0.', 'resume'])
  })

  it('the next piece of a value is read when the connection has room', async () => {
    const { executeStep, runner } = drive()
    const room = deferred<void>()
    let read = 0
    const counting: ReadValue = async function* () {
      for (; read < 50; read += 1) yield Buffer.alloc(100, 'x')
    }
    const { onMessage } = runner
    runner.onMessage = (type) => {
      onMessage(type)
      if (type === 'value') runner.sendCapacity = room.promise
    }
    const result = executeStep(counting)
    await vi.waitFor(() => expect(runner.hostMessages).toHaveLength(2))
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(read).toBeLessThan(3)
    room.resolve()
    expect(await result).toEqual(done)
  })

  it('the sandbox is lost when the runner misses a piece of a value', async () => {
    const { executeStep, runner, driver } = drive()
    runner.onMessage = (type) => {
      if (type === 'hello')
        runner.emit({ type: 'ready', protocol: protocolVersion, session: 's', step: 4, language: 'Python' })
      if (type === 'resume') runner.emit(incomplete)
    }
    expect(await executeStep(readerOf('x'))).toMatchObject({ type: 'lost', cause: 'gone' })
    expect(driver.isLost).toBe(true)
  })

  it('a step that needs a value is sent again by a later attempt, and resolves both', async () => {
    const { executeStep, receivedByRunner } = drive()
    let ended: unknown
    const endless: ReadValue = async function* (_ref, signal) {
      yield* twoPieces
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      ended = signal.aborted
    }
    const first = executeStep(endless, 1)
    await vi.waitFor(() => expect(receivedByRunner()).toEqual(['hello', '0']))
    const second = executeStep(readerOf('x'), 2)
    expect(await Promise.all([first, second])).toEqual([done, done])
    expect(receivedByRunner()).toEqual(['hello', '0', '0.', 'resume'])
    await vi.waitFor(() => expect(ended).toBe(true))
  })

  it('a step is lost when the sandbox ends, even if the source of its value never settles', async () => {
    const { executeStep, receivedByRunner, runner } = drive()
    const result = executeStep(async function* () {
      yield* twoPieces
      await new Promise(() => undefined)
    })
    await vi.waitFor(() => expect(receivedByRunner()).toEqual(['hello', '0']))
    runner.end({ reason: 'disconnected', exitCode: null })
    expect(await result).toMatchObject({ type: 'lost', cause: 'gone' })
  })

  it('the time limit of a step starts after its values; each piece has the same limit', async () => {
    vi.useFakeTimers()
    const { executeStep, runner } = drive()
    const result = executeStep(async function* () {
      yield* twoPieces
      await new Promise((resolve) => setTimeout(resolve, 60_000))
      runner.sendCapacity = new Promise(() => undefined)
    })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(runner.killed).toBe(false)
    await vi.advanceTimersByTimeAsync(5_100)
    expect(await result).toMatchObject({ type: 'lost', cause: 'killed_at_limit' })
    expect(runner.killed).toBe(true)
  })
})
