import { afterEach, describe, expect, it, vi } from 'vitest'
import { defaultLimits } from '../common/limits.js'
import type { StepAnswer } from '../common/steps.js'
import { HostileRunner } from '../../test/support/hostile-runner.js'
import type { SandboxBackend } from './backend.js'
import { deferred } from './deferred.js'
import { SessionHost } from './session-host.js'

const session = { id: 's', epoch: 1, backend: 'docker' } as const
const owner = { workflowId: 'w', runId: 'r', limits: defaultLimits }

/** A living sandbox, to which each connection goes as one of these says when it is sent a step. */
function host(...connections: readonly ((runner: HostileRunner) => void)[]) {
  let made = 0
  const connect = async (): Promise<HostileRunner> => {
    const runner = new HostileRunner()
    const onStep = connections[made]
    made += 1
    runner.onMessage = (type) => void (type === 'cell' && onStep?.(runner))
    return runner
  }
  const backend: SandboxBackend = {
    name: 'docker',
    open: connect,
    attach: connect,
    remove: async () => undefined,
    check: async () => ({ usable: true, summary: '', problems: [] }),
    close: async () => undefined,
  }
  const sessions = new SessionHost({ namespace: 'n', backends: [backend], tools: [] })
  const printed: string[] = []
  const advance = (number = 1, signal = new AbortController().signal): Promise<StepAnswer> => {
    const step = { number, now: 0, input: { type: 'cell', cell: 1, source: 'x' } } as const
    const readValue = (): never => {
      throw new Error('no step here refers to a value')
    }
    const onOutput = (text: string): void => void printed.push(text)
    return sessions.advance(session, step, { limits: defaultLimits }, { attempt: 1, signal, onOutput, readValue })
  }
  const open = () => sessions.open(session, owner, AbortSignal.timeout(60_000))
  return { sessions, open, advance, printed, made: () => made }
}

const answer =
  (step: number) =>
  (runner: HostileRunner): void =>
    runner.say({ type: 'completed', step, output: '' })

const breaks = (runner: HostileRunner): void => runner.end({ reason: 'disconnected' })

/** Says something, and the connection breaks when that has been heard. */
const breaksAfter =
  (message: object) =>
  (runner: HostileRunner): void => {
    runner.say(message)
    setImmediate(() => breaks(runner))
  }

const output = { type: 'output', step: 1, text: 'on the way' }
const ready = { type: 'ready', protocol: 2, session: 's', step: 0, language: 'Python' }

describe('a connection that breaks while the sandbox lives', () => {
  it('is made again, and the step sent again', async () => {
    const { open, advance, made } = host(breaks, answer(1))
    await open()
    expect(await advance()).toMatchObject({ type: 'completed' })
    expect(made()).toBe(2)
  })

  it('is made again as often as it has brought something', async () => {
    const { open, advance, printed, made } = host(...Array.from({ length: 9 }, () => breaksAfter(output)), answer(1))
    await open()
    expect(await advance()).toMatchObject({ type: 'completed' })
    expect([made(), printed]).toEqual([10, Array.from({ length: 9 }, () => 'on the way')])
  })

  it('between two steps costs the next one nothing', async () => {
    const { open, advance, made } = host(breaksAfter({ type: 'completed', step: 1, output: '' }), breaks, answer(2))
    await open()
    expect(await advance(1)).toMatchObject({ type: 'completed' })
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(await advance(2)).toMatchObject({ type: 'completed' })
    expect(made()).toBe(3)
  })

  it('before the step is taken and again behind it still brings its answer', async () => {
    const { open, advance } = host(breaksAfter(ready), breaksAfter({ ...ready, step: 1 }), answer(1))
    await open()
    expect(await advance()).toMatchObject({ type: 'completed' })
  })

  it('before it has brought more than a greeting, three times in a row, is given up with its sandbox', async () => {
    const { open, advance, made } = host(
      breaksAfter(output),
      ...Array.from({ length: 3 }, () => breaksAfter(ready)),
      answer(1),
    )
    await open()
    expect(await advance()).toEqual({ type: 'lost', cause: 'gone', reason: 'the connection to the sandbox broke' })
    expect(made()).toBe(4)
  })

  it('is not made again for a caller that is gone', async () => {
    const over = new AbortController()
    const { open, advance, made } = host((runner) => {
      over.abort()
      breaksAfter(output)(runner)
    }, answer(1))
    await open()
    await expect(advance(1, over.signal)).rejects.toThrow(/aborted/)
    expect(made()).toBe(1)
  })
})

describe('code that is interrupted while connections break', () => {
  const interrupted = { type: 'interrupted' }
  const stopped = {
    type: 'failed',
    step: 1,
    kind: 'stopped',
    error: 'KeyboardInterrupt',
    output: '',
    interrupted_after: 7,
  }

  /** The first connection carries the interrupt, and breaks after it has brought this. */
  async function interruptedOver(message: object, ...next: readonly ((runner: HostileRunner) => void)[]) {
    const begun = deferred<void>()
    const { sessions, open, advance } = host(
      (runner) => {
        runner.interrupt = async () => {
          breaksAfter(message)(runner)
          return true
        }
        begun.resolve()
      },
      ...next,
    )
    await open()
    const answer = advance()
    await begun.promise
    await sessions.interrupt(session, 1)
    return answer
  }

  it('is not interrupted twice, and the answer still says when it was', async () => {
    let again = 0
    const answer = await interruptedOver(interrupted, breaksAfter(ready), (runner) => {
      runner.interrupt = async () => (again += 1) > 0
      runner.say(stopped)
    })
    expect(answer).toMatchObject({ type: 'failed', interruptedAfterMs: 7 })
    expect(again).toBe(0)
  })

  it('is interrupted over the next connection when the first one did not live to say that it was', async () => {
    const answer = await interruptedOver(output, (runner) => {
      runner.interrupt = async () => {
        runner.say(interrupted)
        runner.say(stopped)
        return true
      }
    })
    expect(answer).toMatchObject({ type: 'failed', interruptedAfterMs: 7 })
  })
})

describe('code that reaches its limit while connections break', () => {
  afterEach(() => void vi.useRealTimers())

  it('has no other limit over the next connection, and only a few moments to end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const runners: HostileRunner[] = []
    const breaksEarly = (runner: HostileRunner): void => {
      runners.push(runner)
      setTimeout(() => breaksAfter(output)(runner), 60_000)
    }
    const breaksWhenInterrupted = (runner: HostileRunner): void => {
      runners.push(runner)
      runner.interrupt = async () => {
        breaksAfter({ type: 'interrupted' })(runner)
        return true
      }
    }
    const { open, advance } = host(breaksEarly, ...Array.from({ length: 4 }, () => breaksWhenInterrupted))
    await open()
    let answer: StepAnswer | undefined
    void advance().then((settled) => (answer = settled))
    const reaches = async (connections: number): Promise<void> => {
      await vi.waitUntil(() => vi.advanceTimersByTime(0) && runners.length === connections)
    }
    await reaches(1)
    vi.advanceTimersByTime(60_000)
    await reaches(2)
    vi.advanceTimersByTime(defaultLimits.cellSeconds * 1_000 + 2_000 - 60_000)
    expect(runners).toHaveLength(2)
    vi.advanceTimersByTime(1_000)
    await reaches(5)
    await vi.waitUntil(() => vi.advanceTimersByTime(0) && answer !== undefined)
    expect(answer).toMatchObject({ type: 'lost', cause: 'killed_at_limit' })
    expect(runners.map(({ killed }) => killed)).toEqual([false, false, false, false, true])
  })
})
