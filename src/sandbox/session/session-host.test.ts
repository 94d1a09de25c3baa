import { afterEach, describe, expect, it, vi } from 'vitest'
import { defaultLimits } from '../../common/run/limits.js'
import type { StepResult } from '../../common/session/steps.js'
import { HostileRunner } from '../../../test/support/faults/hostile-runner.js'
import type { SandboxBackend } from '../backend.js'
import { deferred } from '../../common/async/deferred.js'
import { protocolVersion } from '../protocol/messages.js'
import { SessionHost } from './session-host.js'

const session = { id: 's', epoch: 1, backend: 'docker', startedAt: 0 } as const
const owner = { workflowId: 'w', runId: 'r', language: 'python', limits: defaultLimits }

/** A host with one sandbox. Each function is called for one connection, when the host sends a step over it. */
function host(...connections: readonly ((runner: HostileRunner) => void)[]) {
  let connectionCount = 0
  const connect = async (): Promise<HostileRunner> => {
    const runner = new HostileRunner()
    const onStep = connections[connectionCount]
    connectionCount += 1
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
  const executeStep = (number = 1, signal = new AbortController().signal): Promise<StepResult> => {
    const step = { number, now: 0, input: { type: 'cell', cell: 1, source: 'x' } } as const
    const readValue = (): never => {
      throw new Error('no step here refers to a value')
    }
    const onOutput = (text: string): void => void printed.push(text)
    return sessions.executeStep(session, step, { limits: defaultLimits }, { attempt: 1, signal, onOutput, readValue })
  }
  const open = () => sessions.open(session, owner, AbortSignal.timeout(60_000))
  return { sessions, open, executeStep, printed, connectionCount: () => connectionCount }
}

const completeStep =
  (step: number) =>
  (runner: HostileRunner): void =>
    runner.emit({ type: 'completed', step, output: '' })

const disconnect = (runner: HostileRunner): void => runner.end({ reason: 'disconnected' })

/** Sends a message, and breaks the connection when the host has received it. */
const sendThenDisconnect =
  (message: object) =>
  (runner: HostileRunner): void => {
    runner.emit(message)
    setImmediate(() => disconnect(runner))
  }

const output = { type: 'output', step: 1, text: 'on the way' }
const ready = { type: 'ready', protocol: protocolVersion, session: 's', step: 0, language: 'Python' }

describe('a connection that breaks while the sandbox lives', () => {
  it('a broken connection is replaced, and the step is sent again', async () => {
    const { open, executeStep, connectionCount } = host(disconnect, completeStep(1))
    await open()
    expect(await executeStep()).toMatchObject({ type: 'completed' })
    expect(connectionCount()).toBe(2)
  })

  it('a broken connection is replaced as long as there is progress', async () => {
    const { open, executeStep, printed, connectionCount } = host(
      ...Array.from({ length: 9 }, () => sendThenDisconnect(output)),
      completeStep(1),
    )
    await open()
    expect(await executeStep()).toMatchObject({ type: 'completed' })
    expect([connectionCount(), printed]).toEqual([10, Array.from({ length: 9 }, () => 'on the way')])
  })

  it('a connection that breaks between two steps does not fail the next step', async () => {
    const { open, executeStep, connectionCount } = host(
      sendThenDisconnect({ type: 'completed', step: 1, output: '' }),
      disconnect,
      completeStep(2),
    )
    await open()
    expect(await executeStep(1)).toMatchObject({ type: 'completed' })
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(await executeStep(2)).toMatchObject({ type: 'completed' })
    expect(connectionCount()).toBe(3)
  })

  it('connections that break before the runner has the step, and after it, do not fail the step', async () => {
    const { open, executeStep } = host(
      sendThenDisconnect(ready),
      sendThenDisconnect({ ...ready, step: 1 }),
      completeStep(1),
    )
    await open()
    expect(await executeStep()).toMatchObject({ type: 'completed' })
  })

  it('three consecutive broken connections without progress end the step as lost', async () => {
    const { open, executeStep, connectionCount } = host(
      sendThenDisconnect(output),
      ...Array.from({ length: 3 }, () => sendThenDisconnect(ready)),
      completeStep(1),
    )
    await open()
    expect(await executeStep()).toEqual({ type: 'lost', cause: 'gone', reason: 'the connection to the sandbox broke' })
    expect(connectionCount()).toBe(4)
  })

  it('a broken connection is not replaced after the caller aborted', async () => {
    const over = new AbortController()
    const { open, executeStep, connectionCount } = host((runner) => {
      over.abort()
      sendThenDisconnect(output)(runner)
    }, completeStep(1))
    await open()
    await expect(executeStep(1, over.signal)).rejects.toThrow(/aborted/)
    expect(connectionCount()).toBe(1)
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

  /** Runs a step. The first connection breaks after the interrupt, when it has delivered this message. */
  async function interruptedOver(message: object, ...next: readonly ((runner: HostileRunner) => void)[]) {
    const begun = deferred<void>()
    const { sessions, open, executeStep } = host(
      (runner) => {
        runner.interrupt = async () => {
          sendThenDisconnect(message)(runner)
          return true
        }
        begun.resolve()
      },
      ...next,
    )
    await open()
    const result = executeStep()
    await begun.promise
    await sessions.interrupt(session, 1)
    return result
  }

  it('code is interrupted once while connections break, and the result has the time of the interrupt', async () => {
    let again = 0
    const result = await interruptedOver(interrupted, sendThenDisconnect(ready), (runner) => {
      runner.interrupt = async () => (again += 1) > 0
      runner.emit(stopped)
    })
    expect(result).toMatchObject({ type: 'failed', interruptedAfterMs: 7 })
    expect(again).toBe(0)
  })

  it('code is interrupted over the next connection when the first did not confirm the interrupt', async () => {
    const result = await interruptedOver(output, (runner) => {
      runner.interrupt = async () => {
        runner.emit(interrupted)
        runner.emit(stopped)
        return true
      }
    })
    expect(result).toMatchObject({ type: 'failed', interruptedAfterMs: 7 })
  })
})

describe('code that reaches its limit while connections break', () => {
  afterEach(() => void vi.useRealTimers())

  it('code keeps its deadline over the next connections, and has a limited number of grace periods', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const runners: HostileRunner[] = []
    const breaksEarly = (runner: HostileRunner): void => {
      runners.push(runner)
      setTimeout(() => sendThenDisconnect(output)(runner), 60_000)
    }
    const breaksWhenInterrupted = (runner: HostileRunner): void => {
      runners.push(runner)
      runner.interrupt = async () => {
        sendThenDisconnect({ type: 'interrupted' })(runner)
        return true
      }
    }
    const { open, executeStep } = host(breaksEarly, ...Array.from({ length: 4 }, () => breaksWhenInterrupted))
    await open()
    let result: StepResult | undefined
    void executeStep().then((settled) => (result = settled))
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
    await vi.waitUntil(() => vi.advanceTimersByTime(0) && result !== undefined)
    expect(result).toMatchObject({ type: 'lost', cause: 'killed_at_limit' })
    expect(runners.map(({ killed }) => killed)).toEqual([false, false, false, false, true])
  })
})
