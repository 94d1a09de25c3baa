import { afterEach, describe, expect, it, vi } from 'vitest'
import { defaultLimits } from '../../common/run/limits.js'
import type { StepResult } from '../../common/session/steps.js'
import type { SandboxEnd } from '../backend.js'
import { HostileRunner } from '../../../test/support/faults/hostile-runner.js'
import { SessionDriver } from './session-driver.js'
import { protocolVersion } from '../protocol/messages.js'
import type { ReadValue } from './value-transfer.js'

const limits = { ...defaultLimits, cellSeconds: 2 }

const readNoValue: ReadValue = () => {
  throw new Error('no step here refers to a value')
}

function drive() {
  const runner = new HostileRunner()
  const driver = new SessionDriver(runner, {
    session: 's',
    epoch: 3,
    seed: 1,
    startedAt: 0,
    tools: [],
    limits,
    frameBytes: 100_000,
    resume: false,
  })
  const printed: string[] = []
  const executeStep = (number = 1, attempt = 1, source = 'x'): Promise<StepResult> =>
    driver.executeStep(
      { number, now: 0, input: { type: 'cell', cell: 1, source } },
      { attempt, onOutput: (text) => printed.push(text), readValue: readNoValue },
    )
  return { runner, driver, executeStep, printed }
}

const completed = (step: number, output = '') => ({ type: 'completed', step, output })

afterEach(() => void vi.useRealTimers())

describe('SessionDriver', () => {
  it('a driver sends one hello, and each step with its fence', async () => {
    const { runner, executeStep } = drive()
    runner.onMessage = () => runner.emit(completed(runner.hostMessages.length - 1))
    await executeStep(1)
    await executeStep(2, 5)
    expect(runner.hostMessages.map(({ type, fence }) => [type, ...fence])).toEqual([
      ['hello', 3, 1, 1],
      ['cell', 3, 1, 1],
      ['cell', 3, 2, 5],
    ])
  })

  it('a driver reports only the output of the pending step', async () => {
    const { runner, executeStep, printed } = drive()
    const result = executeStep(2)
    runner.emit({ type: 'output', step: 1, text: 'old' })
    runner.emit({ type: 'output', step: 2, text: 'new' })
    runner.emit(completed(2))
    await result
    expect(printed).toEqual(['new'])
  })

  it('a driver ignores a response to another step', async () => {
    const { runner, executeStep } = drive()
    const result = executeStep(2)
    for (const step of [1, 3, 0, 1_000_000]) runner.emit(completed(step, 'forged'))
    runner.emit(completed(2, 'right'))
    expect(await result).toEqual({ type: 'completed', output: 'right' })
  })

  it('a driver ignores a response that arrived before the step started', async () => {
    const { runner, executeStep } = drive()
    runner.emit(completed(1, 'too early'))
    await new Promise((resolve) => setImmediate(resolve))
    const result = executeStep(1)
    runner.emit(completed(1, 'in time'))
    expect(await result).toEqual({ type: 'completed', output: 'in time' })
  })

  const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`
  it.each<[string, unknown]>([
    ['a string instead of an object', 'hello'],
    ['an unknown type', { type: 'hello' }],
    ['a field too many', { ...completed(1), extra: 1 }],
    ['a missing field', { type: 'completed', step: 1 }],
    ['a step that is not a number', completed('1' as unknown as number)],
    [
      'a call without a number',
      { type: 'suspended', step: 1, calls: [{ tool: 'x', arguments: {} }], wake_in: null, output: '' },
    ],
    ['a call of number 0', suspended({ call: 0 })],
    ['a call of half a number', suspended({ call: 1.5 })],
    ['a tool name that is too long', suspended({ tool: 'x'.repeat(65) })],
    ['arguments that are a list', suspended({ arguments: [1] })],
    ['a wake-up in the past', { ...suspended({}), wake_in: -1 }],
    ['a wake-up in a thousand years', { ...suspended({}), wake_in: 1e12 }],
    ['too many calls', { ...suspended({}), calls: Array.from({ length: 10_001 }, () => 0) }],
    ['another session', { type: 'ready', protocol: protocolVersion, session: 'other', step: 0, language: 'Python' }],
    ['another protocol', { type: 'ready', protocol: 1, session: 's', step: 0, language: 'Python' }],
    ['a refusal', { type: 'refused', step: 1, fence: [3, 1, 1], kind: 'invalid', reason: 'expected cell as step 9' }],
  ])('a driver kills a sandbox that sends a message with %s', async (_what, message) => {
    const { runner, driver, executeStep } = drive()
    const result = executeStep()
    runner.emit(message)
    expect(await result).toMatchObject({ type: 'lost', cause: 'protocol' })
    expect(driver.isLost).toBe(true)
    expect(runner.killed).toBe(true)
    expect(await executeStep(2)).toMatchObject({ type: 'lost', cause: 'protocol' })
  })

  it.each<[string, Uint8Array]>([
    ['a frame over the limit', Buffer.from([0, 0xff, 0xff, 0xff, 0x7b])],
    ['no JSON', Buffer.from([0, 0, 0, 2, 0x7b, 0x7b])],
    ['arguments of endless nesting', nested(deep)],
  ])('a driver kills a sandbox that sends %s', async (_what, bytes) => {
    const { runner, executeStep } = drive()
    const result = executeStep()
    runner.emitBytes(bytes)
    expect(await result).toMatchObject({ type: 'lost', cause: 'protocol' })
    expect(runner.killed).toBe(true)
  })

  it('a driver ignores a refusal with the fence of another driver', async () => {
    const { runner, executeStep } = drive()
    const result = executeStep()
    runner.emit({ type: 'refused', step: 1, fence: [2, 9, 9], kind: 'fenced', reason: 'older' })
    runner.emit(completed(1, 'mine'))
    expect(await result).toEqual({ type: 'completed', output: 'mine' })
  })

  it('a second call joins a pending step, and both calls resolve with its result', async () => {
    const { runner, executeStep } = drive()
    const results = [executeStep(1, 1), executeStep(1, 2)]
    runner.emit(completed(1, 'once'))
    expect(await Promise.all(results)).toEqual([
      { type: 'completed', output: 'once' },
      { type: 'completed', output: 'once' },
    ])
  })

  it('a call that joins a step gets the end of the output before it, and later output', async () => {
    const { runner, executeStep, printed } = drive()
    const first = executeStep(1, 0)
    runner.emit({ type: 'output', step: 1, text: `${'-'.repeat(600)}one\n` })
    await vi.waitFor(() => expect(printed).toHaveLength(1))
    const joining = executeStep(1, 1)
    runner.emit({ type: 'output', step: 1, text: 'two\n' })
    runner.emit(completed(1))
    await Promise.all([first, joining])
    expect(printed.slice(1)).toEqual([`${'-'.repeat(496)}one\n`, 'two\n'])
  })

  it('a call neither joins another step of the same number nor accepts its response', async () => {
    const { runner, executeStep } = drive()
    const before = executeStep(1, 1, 'of a run that was reset since')
    await vi.waitFor(() => expect(runner.hostMessages).toHaveLength(2))
    const result = executeStep(1)
    await expect(before).rejects.toMatchObject({ code: 'SANDBOX_FENCED' })
    await vi.waitFor(() => expect(runner.hostMessages).toHaveLength(3))
    const [theirs, mine] = runner.hostMessages
      .slice(1)
      .map((message) => ('digest' in message ? { digest: message.digest } : {}))
    runner.emit({ ...completed(1, 'theirs'), ...theirs })
    runner.emit({ ...completed(1, 'mine'), ...mine })
    expect(await result).toEqual({ type: 'completed', output: 'mine' })
  })

  it('a driver rejects an earlier step when another step starts', async () => {
    const { runner, executeStep } = drive()
    const earlier = executeStep(1)
    const later = executeStep(2)
    await expect(earlier).rejects.toMatchObject({ code: 'SANDBOX_FENCED' })
    runner.emit(completed(2, 'later'))
    expect(await later).toEqual({ type: 'completed', output: 'later' })
  })

  it.each<[string, Partial<SandboxEnd>, object]>([
    [
      'exited',
      { exitCode: 3, diagnostics: 'Fatal\nno such module\n' },
      { cause: 'exited', reason: 'the sandbox ended with exit code 3: no such module' },
    ],
    ['was killed for its memory', { reason: 'out_of_memory', exitCode: 137 }, { cause: 'out_of_memory' }],
    [
      'lost its connection',
      { reason: 'disconnected', exitCode: null },
      { cause: 'gone', reason: 'the connection to the sandbox broke' },
    ],
  ])('a driver reports the end of a sandbox that %s', async (_how, end, expected) => {
    const { runner, executeStep } = drive()
    const result = executeStep()
    runner.end(end)
    expect(await result).toMatchObject({ type: 'lost', ...expected })
  })

  it('a driver kills a sandbox that does not respond within its limit', async () => {
    vi.useFakeTimers()
    const { runner, executeStep } = drive()
    const result = executeStep()
    await vi.advanceTimersByTimeAsync(4_900)
    expect(runner.killed).toBe(false)
    await vi.advanceTimersByTimeAsync(200)
    expect(await result).toMatchObject({ type: 'lost', cause: 'killed_at_limit' })
    expect(runner.killed).toBe(true)
  })

  it('a sandbox that can be interrupted gets a grace period', async () => {
    vi.useFakeTimers()
    const { runner, executeStep } = drive()
    runner.interruptible = true
    const result = executeStep()
    await vi.advanceTimersByTimeAsync(6_000)
    runner.emit({ type: 'failed', step: 1, kind: 'timed_out', error: 'stopped', output: '' })
    expect(await result).toMatchObject({ type: 'failed', kind: 'timed_out' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(runner.killed).toBe(false)
  })

  it('a driver repeats an interrupt until the runner confirms it, and reports its time with the result', async () => {
    vi.useFakeTimers()
    const { runner, driver, executeStep } = drive()
    let times = 0
    runner.interrupt = () => {
      times += 1
      if (times === 3) runner.emit({ type: 'interrupted' })
      return Promise.resolve(true)
    }
    const result = executeStep()
    await vi.advanceTimersByTimeAsync(300)
    const interrupting = driver.interrupt(1)
    await vi.advanceTimersByTimeAsync(2_500)
    expect(await interrupting).toBe(true)
    runner.emit({ ...completed(1, 'caught it'), interrupted_after: 2_298 })
    expect(await result).toEqual({ type: 'completed', output: 'caught it', interruptedAfterMs: 2_298 })
    expect(times).toBe(3)
  })

  it('an interrupt affects no other step, and stops when the step ends', async () => {
    vi.useFakeTimers()
    const { runner, driver, executeStep } = drive()
    let times = 0
    runner.interrupt = () => {
      times += 1
      return Promise.resolve(true)
    }
    expect(await driver.interrupt(1)).toBe(false)
    const result = executeStep(1)
    expect(await driver.interrupt(2)).toBe(false)
    expect(times).toBe(0)
    const interrupting = driver.interrupt(1)
    runner.emit(completed(1))
    expect(await result).toEqual({ type: 'completed', output: '' }) // the step ended without the interrupt
    expect(await interrupting).toBe(true)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(times).toBe(1)
  })

  it('output does not extend the time limit of a step', async () => {
    vi.useFakeTimers()
    const { runner, executeStep } = drive()
    const result = executeStep()
    for (let second = 0; second < 6; second += 1) {
      runner.emit({ type: 'output', step: 1, text: '.' })
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(await result).toMatchObject({ type: 'lost', cause: 'killed_at_limit' })
  })

  it('a driver rejects a step that is larger than a frame', async () => {
    const { driver } = drive()
    const source = 'x'.repeat(200_000)
    const step = { number: 1, now: 0, input: { type: 'cell', cell: 1, source } } as const
    await expect(
      driver.executeStep(step, { attempt: 1, onOutput: () => undefined, readValue: readNoValue }),
    ).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    })
  })
})

function suspended(call: object) {
  const calls = [{ call: 1, tool: 'x', arguments: {}, ...call }]
  return { type: 'suspended', step: 1, calls, wake_in: null, output: '' }
}

/** A suspension with this JSON text as arguments. */
function nested(json: string): Uint8Array {
  const text = JSON.stringify(suspended({ arguments: { deep: '%' } })).replace('"%"', json)
  const frame = Buffer.alloc(4 + text.length)
  frame.writeUInt32BE(text.length)
  frame.write(text, 4)
  return frame
}
