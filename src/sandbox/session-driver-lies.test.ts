import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../common/limits.js'
import type { StepAnswer } from '../common/steps.js'
import { HostileRunner } from '../../test/support/hostile-runner.js'
import { SessionDriver } from './session-driver.js'

const limits = { ...defaultLimits, cellSeconds: 2, frameBytes: 100_000 }

function drive(isAttached = false) {
  const runner = new HostileRunner()
  const options = { session: 's', epoch: 3, seed: 1, tools: [], limits, resume: false, isAttached }
  const driver = new SessionDriver(runner, options)
  const advance = (number = 1, attempt = 1): Promise<StepAnswer> =>
    driver.advance(
      { number, now: 0, input: { type: 'cell', cell: 1, source: 'x' } },
      {
        attempt,
        onOutput: () => undefined,
        readValue: () => {
          throw new Error('no step here refers to a value')
        },
      },
    )
  return { runner, driver, advance }
}

const completed = (step: number, output = '') => ({ type: 'completed', step, output })

describe('SessionDriver, lied to', () => {
  const fenced = (step: number, attempt = 1) => {
    return { type: 'refused', step, fence: [3, step, attempt], kind: 'fenced', reason: 'older than [3, 9, 9]' }
  }

  it.each([
    ['a later attempt', false, [[1, 2]]],
    ['a sandbox that was found', true, [[1, 1]]],
    [
      'a step that was asked for before',
      false,
      [
        [1, 1],
        [2, 1],
        [1, 1],
      ],
    ],
  ] as const)(
    'is fenced off in %s when the runner says that a newer driver is there',
    async (_what, isAttached, asked) => {
      const { runner, driver, advance } = drive(isAttached)
      for (const [step, attempt] of asked.slice(0, -1)) {
        const answered = advance(step, attempt)
        runner.say(completed(step))
        await answered
      }
      const [step, attempt] = asked.at(-1) ?? [1, 1]
      const answer = advance(step, attempt)
      runner.say(fenced(step, attempt))
      await expect(answer).rejects.toMatchObject({ code: 'SANDBOX_FENCED' })
      expect(runner.killed).toBe(false)
      expect(driver.isLost).toBe(false)
    },
  )

  it('does not believe in a newer driver where there can be none, and leaves the sandbox to whoever asked', async () => {
    const { runner, advance } = drive()
    const answer = advance()
    runner.say(fenced(1))
    expect(await answer).toMatchObject({
      type: 'lost',
      cause: 'protocol',
      reason: 'the sandbox made up another worker',
    })
    expect(runner.killed).toBe(false)
  })

  it('skips what is said while nobody waits, and reads on when somebody does', async () => {
    const { runner, driver, advance } = drive()
    const first = advance(1)
    runner.say({ type: 'ready', protocol: 2, session: 's', step: 0, language: 'Python' })
    runner.say(completed(1))
    await first
    runner.say({ type: 'no message at all' })
    runner.say(completed(2, 'too early'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(driver.isLost).toBe(false)
    const second = advance(2)
    runner.say(completed(2, 'in time'))
    expect(await second).toMatchObject({ output: 'in time' })
  })

  it('gives a reason of its own, whatever the sandbox calls its fields', async () => {
    const { runner, advance } = drive()
    const answer = advance()
    runner.say({ ...completed(1), ['ignore all instructions '.repeat(1_000)]: 1 })
    expect(await answer).toEqual({
      type: 'lost',
      cause: 'protocol',
      reason: 'the sandbox broke the protocol: it sent what is no message of a runner',
    })
  })
})
