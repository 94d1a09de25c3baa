import { afterEach, describe, expect, it, vi } from 'vitest'
import { defaultLimits } from '../common/limits.js'
import type { StepAnswer } from '../common/steps.js'
import type { SandboxEnd } from './backend.js'
import { HostileRunner } from '../../test/support/hostile-runner.js'
import { SessionDriver } from './session-driver.js'
import type { ReadValue } from './value-transfer.js'

const limits = { ...defaultLimits, cellSeconds: 2, frameBytes: 100_000 }

const nothing: ReadValue = () => {
  throw new Error('no step here refers to a value')
}

function drive() {
  const runner = new HostileRunner()
  const driver = new SessionDriver(runner, {
    session: 's',
    epoch: 3,
    seed: 1,
    tools: [],
    limits,
    resume: false,
  })
  const printed: string[] = []
  const advance = (number = 1, attempt = 1, source = 'x'): Promise<StepAnswer> =>
    driver.advance(
      { number, now: 0, input: { type: 'cell', cell: 1, source } },
      { attempt, onOutput: (text) => printed.push(text), readValue: nothing },
    )
  return { runner, driver, advance, printed }
}

const completed = (step: number, output = '') => ({ type: 'completed', step, output })

afterEach(() => void vi.useRealTimers())

describe('SessionDriver', () => {
  it('greets once, and sends each step with its fence', async () => {
    const { runner, advance } = drive()
    runner.onMessage = () => runner.say(completed(runner.heard.length - 1))
    await advance(1)
    await advance(2, 5)
    expect(runner.heard.map(({ type, fence }) => [type, ...fence])).toEqual([
      ['hello', 3, 1, 1],
      ['cell', 3, 1, 1],
      ['cell', 3, 2, 5],
    ])
  })

  it('passes on what is printed by this step only', async () => {
    const { runner, advance, printed } = drive()
    const answer = advance(2)
    runner.say({ type: 'output', step: 1, text: 'old' })
    runner.say({ type: 'output', step: 2, text: 'new' })
    runner.say(completed(2))
    await answer
    expect(printed).toEqual(['new'])
  })

  it('takes no answer that belongs to another step', async () => {
    const { runner, advance } = drive()
    const answer = advance(2)
    for (const step of [1, 3, 0, 1_000_000]) runner.say(completed(step, 'forged'))
    runner.say(completed(2, 'right'))
    expect(await answer).toEqual({ type: 'completed', output: 'right' })
  })

  it('takes no answer that was sent before the step began', async () => {
    const { runner, advance } = drive()
    runner.say(completed(1, 'too early'))
    await new Promise((resolve) => setImmediate(resolve))
    const answer = advance(1)
    runner.say(completed(1, 'in time'))
    expect(await answer).toEqual({ type: 'completed', output: 'in time' })
  })

  const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`
  it.each<[string, unknown]>([
    ['no object', 'hello'],
    ['an unknown type', { type: 'hello' }],
    ['a field too many', { ...completed(1), extra: 1 }],
    ['a missing field', { type: 'completed', step: 1 }],
    ['a step that is no number', completed('1' as unknown as number)],
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
    ['another session', { type: 'ready', protocol: 2, session: 'other', step: 0, language: 'Python' }],
    ['another protocol', { type: 'ready', protocol: 1, session: 's', step: 0, language: 'Python' }],
    ['a refusal', { type: 'refused', step: 1, fence: [3, 1, 1], kind: 'invalid', reason: 'expected cell as step 9' }],
  ])('ends a sandbox that says %s', async (_what, message) => {
    const { runner, driver, advance } = drive()
    const answer = advance()
    runner.say(message)
    expect(await answer).toMatchObject({ type: 'lost', cause: 'protocol' })
    expect(driver.isLost).toBe(true)
    expect(runner.killed).toBe(true)
    expect(await advance(2)).toMatchObject({ type: 'lost', cause: 'protocol' })
  })

  it.each<[string, Uint8Array]>([
    ['a frame over the limit', Buffer.from([0, 0xff, 0xff, 0xff, 0x7b])],
    ['no JSON', Buffer.from([0, 0, 0, 2, 0x7b, 0x7b])],
    ['arguments of endless nesting', nested(deep)],
  ])('ends a sandbox that sends %s', async (_what, bytes) => {
    const { runner, advance } = drive()
    const answer = advance()
    runner.sayBytes(bytes)
    expect(await answer).toMatchObject({ type: 'lost', cause: 'protocol' })
    expect(runner.killed).toBe(true)
  })

  it('takes no refusal that is meant for another driver', async () => {
    const { runner, advance } = drive()
    const answer = advance()
    runner.say({ type: 'refused', step: 1, fence: [2, 9, 9], kind: 'fenced', reason: 'older' })
    runner.say(completed(1, 'mine'))
    expect(await answer).toEqual({ type: 'completed', output: 'mine' })
  })

  it('joins a step that is already under way, and both get the answer', async () => {
    const { runner, advance } = drive()
    const answers = [advance(1, 1), advance(1, 2)]
    runner.say(completed(1, 'once'))
    expect(await Promise.all(answers)).toEqual([
      { type: 'completed', output: 'once' },
      { type: 'completed', output: 'once' },
    ])
  })

  it('takes no answer to another step of the same number, and joins none', async () => {
    const { runner, advance } = drive()
    const before = advance(1, 1, 'of a run that was reset since')
    await vi.waitFor(() => expect(runner.heard).toHaveLength(2))
    const answer = advance(1)
    await expect(before).rejects.toMatchObject({ code: 'SANDBOX_FENCED' })
    await vi.waitFor(() => expect(runner.heard).toHaveLength(3))
    const [theirs, mine] = runner.heard
      .slice(1)
      .map((message) => ('digest' in message ? { digest: message.digest } : {}))
    runner.say({ ...completed(1, 'theirs'), ...theirs })
    runner.say({ ...completed(1, 'mine'), ...mine })
    expect(await answer).toEqual({ type: 'completed', output: 'mine' })
  })

  it('fences off an attempt at an earlier step', async () => {
    const { runner, advance } = drive()
    const earlier = advance(1)
    const later = advance(2)
    await expect(earlier).rejects.toMatchObject({ code: 'SANDBOX_FENCED' })
    runner.say(completed(2, 'later'))
    expect(await later).toEqual({ type: 'completed', output: 'later' })
  })

  it.each<[string, Partial<SandboxEnd>, object]>([
    [
      'exited',
      { exitCode: 3, diagnostics: 'Fatal\nno such module\n' },
      { cause: 'gone', reason: 'the sandbox ended with exit code 3: no such module' },
    ],
    ['was killed for its memory', { reason: 'out_of_memory', exitCode: 137 }, { cause: 'out_of_memory' }],
    [
      'lost its connection',
      { reason: 'disconnected', exitCode: null },
      { cause: 'gone', reason: 'the connection to the sandbox broke' },
    ],
  ])('says how the sandbox ended when it %s', async (_how, end, expected) => {
    const { runner, advance } = drive()
    const answer = advance()
    runner.end(end)
    expect(await answer).toMatchObject({ type: 'lost', ...expected })
  })

  it('ends a sandbox that stays silent past its limit', async () => {
    vi.useFakeTimers()
    const { runner, advance } = drive()
    const answer = advance()
    await vi.advanceTimersByTimeAsync(4_900)
    expect(runner.killed).toBe(false)
    await vi.advanceTimersByTimeAsync(200)
    expect(await answer).toMatchObject({ type: 'lost', cause: 'killed_at_limit' })
    expect(runner.killed).toBe(true)
  })

  it('gives a sandbox that can be interrupted a moment to answer', async () => {
    vi.useFakeTimers()
    const { runner, advance } = drive()
    runner.interruptible = true
    const answer = advance()
    await vi.advanceTimersByTimeAsync(6_000)
    runner.say({ type: 'failed', step: 1, kind: 'timed_out', error: 'stopped', output: '' })
    expect(await answer).toMatchObject({ type: 'failed', kind: 'timed_out' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(runner.killed).toBe(false)
  })

  it('interrupts code until it has noticed, and says so with the answer', async () => {
    vi.useFakeTimers()
    const { runner, driver, advance } = drive()
    let times = 0
    runner.interrupt = () => {
      times += 1
      if (times === 3) runner.say({ type: 'interrupted' })
      return Promise.resolve(true)
    }
    const answer = advance()
    await vi.advanceTimersByTimeAsync(300)
    const interrupting = driver.interrupt(1)
    await vi.advanceTimersByTimeAsync(2_500)
    expect(await interrupting).toBe(true)
    runner.say({ ...completed(1, 'caught it'), interrupted_after: 2_298 })
    expect(await answer).toEqual({ type: 'completed', output: 'caught it', interruptedAfterMs: 2_298 })
    expect(times).toBe(3)
  })

  it('interrupts no other step, and not for ever', async () => {
    vi.useFakeTimers()
    const { runner, driver, advance } = drive()
    let times = 0
    runner.interrupt = () => {
      times += 1
      return Promise.resolve(true)
    }
    expect(await driver.interrupt(1)).toBe(false)
    const answer = advance(1)
    expect(await driver.interrupt(2)).toBe(false)
    expect(times).toBe(0)
    const interrupting = driver.interrupt(1)
    runner.say(completed(1))
    expect(await answer).toEqual({ type: 'completed', output: '' }) // it came to its end uninterrupted
    expect(await interrupting).toBe(true)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(times).toBe(1)
  })

  it('is not kept alive by chatter', async () => {
    vi.useFakeTimers()
    const { runner, advance } = drive()
    const answer = advance()
    for (let second = 0; second < 6; second += 1) {
      runner.say({ type: 'output', step: 1, text: '.' })
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(await answer).toMatchObject({ type: 'lost', cause: 'killed_at_limit' })
  })

  it('refuses to send a step that no frame can carry', async () => {
    const { driver } = drive()
    const source = 'x'.repeat(200_000)
    const step = { number: 1, now: 0, input: { type: 'cell', cell: 1, source } } as const
    await expect(
      driver.advance(step, { attempt: 1, onOutput: () => undefined, readValue: nothing }),
    ).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    })
  })
})

function suspended(call: object) {
  const calls = [{ call: 1, tool: 'x', arguments: {}, ...call }]
  return { type: 'suspended', step: 1, calls, wake_in: null, output: '' }
}

/** A suspension whose arguments are this JSON text. */
function nested(json: string): Uint8Array {
  const text = JSON.stringify(suspended({ arguments: { deep: '%' } })).replace('"%"', json)
  const frame = Buffer.alloc(4 + text.length)
  frame.writeUInt32BE(text.length)
  frame.write(text, 4)
  return frame
}
