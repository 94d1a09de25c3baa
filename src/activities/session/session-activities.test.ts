import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CancelledFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tool } from '../../../test/support/tools.js'
import type { AuditLog, NewAuditEvent } from '../../audit/index.js'
import { rejectOnAbort } from '../../common/async/abort.js'
import { PtcError } from '../../common/errors.js'
import { defaultLimits } from '../../common/run/limits.js'
import type { OpenedSession, SessionRef } from '../../common/session/session.js'
import type { SnapshotResult } from '../../common/session/snapshots.js'
import type { NewStep, RecordedStep, Step, StepResult } from '../../common/session/steps.js'
import type { NetworkAccess } from '../../sandbox/network/access.js'
import type { ExecuteStepOptions } from '../../sandbox/session/pending-step.js'
import type { SessionHost } from '../../sandbox/session/session-host.js'
import { Credentials } from '../../tools/credentials/credentials.js'
import { createRegistry } from '../../tools/registry.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { executeStep } from './execute-step.js'
import type { FollowUps } from './follow-ups.js'
import { closeSession, interruptSession, openSession, parkSession } from './session-activities.js'
import { snapshotSession } from './snapshots.js'

const session: SessionRef = { id: 'run', epoch: 0, backend: 'docker', startedAt: 0 }
const registry = createRegistry([tool('pay', () => null)])
const tools = { digest: registry.digest, signatures: [] }
const limits = defaultLimits

/** Opens a value store for one test. */
function openValues() {
  const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { values: new Values({ store: new LocalStore(folder) }), folder }
}

/** A host with only these methods. */
const hostOf = (methods: Partial<SessionHost>): SessionHost => methods as SessionHost

const noFollowUps = { afterStep: () => Promise.resolve([]) } as unknown as FollowUps

const network = { credentials: new Credentials(), namespace: 'default' }

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no failure',
    (thrown: unknown) => thrown,
  )
}

describe('session.open', () => {
  const input = { session, language: 'python', limits, tools, reason: 'new' } as const

  it('session.open opens a sandbox with the tools of its run, and returns the queue of the host', async () => {
    let opened: unknown
    const host = hostOf({
      open: (_session, spec) => {
        opened = spec
        return Promise.resolve({ session, description: 'container', supportsCheckpoint: false })
      },
    })
    const activity = openSession({
      host,
      registry,
      values: openValues().values,
      followUps: noFollowUps,
      ...network,
      hostQueueOf: (backend) => `queue.host.${backend}`,
    })
    const result: unknown = await new MockActivityEnvironment().run(() => activity(input))
    expect(result).toEqual({
      session,
      description: 'container',
      supportsCheckpoint: false,
      hostQueue: 'queue.host.docker',
    })
    expect(opened).toMatchObject({ workflowId: 'test', language: 'python', limits, tools: registry.signatures() })
  })

  /** Opens a session with a first step. The host executes steps with `execute`, and records them. */
  async function openWithStep(execute: (signal: AbortSignal) => Promise<StepResult>, attempt = 1, isLastCell?: true) {
    const chosen: SessionRef = { ...session, epoch: 1, backend: 'wasm' }
    const sent: unknown[] = []
    const closed: SessionRef[] = []
    const host = hostOf({
      open: () => Promise.resolve({ session: chosen, description: 'container', supportsCheckpoint: false }),
      executeStep: (ref: SessionRef, { number }: { readonly number: number }, _attach: unknown, options: Sent) => {
        sent.push([ref, number, options.attempt])
        return execute(options.signal)
      },
      close: (ref) => {
        closed.push(ref)
        return Promise.resolve()
      },
    })
    const parts = { host, registry, values: openValues().values, followUps: noFollowUps, ...network }
    const activity = openSession({ ...parts, hostQueueOf: (backend) => `queue.host.${backend}` })
    const step: Step = { number: 1, now: 0, input: { type: 'cell', cell: 1, source: 'x' } }
    const firstStep = { step, outputLimit: 1_000, ...(isLastCell && { isLastCell }) }
    const environment = new MockActivityEnvironment({ attempt })
    const opening = () => activity({ ...input, firstStep })
    const result = await environment.run<[], OpenedSession, typeof opening>(opening)
    return { result, sent, closed, chosen }
  }
  interface Sent {
    readonly attempt: number
    readonly signal: AbortSignal
  }
  const printed: StepResult = { type: 'completed', output: 'done' }

  it('session.open executes the first step with an older fence than session.step', async () => {
    const { result, sent, closed, chosen } = await openWithStep(() => Promise.resolve(printed))
    expect(result).toMatchObject({ session: chosen, firstStep: printed })
    expect(sent).toEqual([[chosen, 1, 0]])
    expect(closed).toEqual([])
  })

  it('session.open removes the sandbox after the last cell, unless its files are still to be read', async () => {
    const { result, closed, chosen } = await openWithStep(() => Promise.resolve(printed), 1, true)
    expect(result).toMatchObject({ firstStep: { ...printed, closed: true } })
    expect(closed).toEqual([chosen])
    const files = [{ path: '/tmp/out/a', bytes: 1, mtime: 0 }] as unknown as NonNullable<typeof printed.files>
    const withFiles = await openWithStep(() => Promise.resolve({ ...printed, files }), 1, true)
    expect(withFiles.result.firstStep).not.toHaveProperty('closed')
    expect(withFiles.closed).toEqual([])
  })

  it('session.open returns without the first step when it takes long, fails, or may have been executed', async () => {
    const untilAborted = (signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
    const fail = () => Promise.reject(new PtcError('VALUE_STORE_UNAVAILABLE', 'no store'))
    for (const execute of [untilAborted, fail]) {
      const { result, sent } = await openWithStep(execute)
      expect(result).toMatchObject({ description: 'container' })
      expect(result).not.toHaveProperty('firstStep')
      expect(sent).toHaveLength(1)
    }
    const { result, sent } = await openWithStep(() => Promise.resolve(printed), 2)
    expect(result).not.toHaveProperty('firstStep')
    expect(sent).toEqual([])
  })
})

it('code sends requests after the time in which session.open waits for the first step', async () => {
  let access: NetworkAccess | undefined
  const host = hostOf({
    open: () => Promise.resolve({ session, description: 'container', supportsCheckpoint: false }),
    executeStep: (_ref: SessionRef, _step: unknown, _attach: unknown, options: ExecuteStepOptions & Aborted) => {
      access = options.network
      return rejectOnAbort(options.signal)
    },
  })
  const stored: string[] = []
  const before = (event: NewAuditEvent, signal: AbortSignal) => {
    signal.throwIfAborted()
    stored.push(event.type)
    return Promise.resolve()
  }
  const audit = { before, codeField: () => ({}) } as unknown as AuditLog
  const parts = { host, registry, values: openValues().values, followUps: noFollowUps, ...network, audit }
  const step: Step = { number: 1, now: 0, input: { type: 'cell', cell: 1, source: 'x' } }
  const firstStep = { step, outputLimit: 1_000, network: { rules: [], agent: 'a' } } as unknown as NewStep
  const input = { session, language: 'python', limits, tools, reason: 'new', firstStep } as const
  const activity = openSession({ ...parts, hostQueueOf: () => 'queue' })
  await new MockActivityEnvironment().run(() => activity(input))
  await access?.observe(1, { type: 'request.started', host: 'a', port: 1, method: 'GET' })
  expect(stored).toEqual(['cell.started', 'request.started'])
})
interface Aborted {
  readonly signal: AbortSignal
}

describe('session.interrupt, session.park and session.close', () => {
  it('session.interrupt is retried until the step runs on this worker', async () => {
    const running = new Set<number>()
    const activity = interruptSession({
      host: hostOf({ interrupt: (_session, step) => Promise.resolve(running.has(step)) }),
    })
    const interrupt = () => new MockActivityEnvironment().run(() => activity({ session, step: 3 }))
    expect(await failureOf(interrupt())).toMatchObject({ type: 'SANDBOX_UNAVAILABLE', nonRetryable: false })
    running.add(3)
    await expect(interrupt()).resolves.toBeUndefined()
  })

  it('session.park passes its cancellation to the host', async () => {
    const environment = new MockActivityEnvironment()
    const park: SessionHost['park'] = (_session, signal) => {
      queueMicrotask(() => environment.cancel())
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      )
    }
    const failure = await failureOf(environment.run(() => parkSession({ host: hostOf({ park }) })(session)))
    expect(failure).toBeInstanceOf(CancelledFailure)
  })

  it('session.close removes the sandbox although the activity was cancelled', async () => {
    const environment = new MockActivityEnvironment()
    const closed: SessionRef[] = []
    const close = async (closing: SessionRef) => {
      environment.cancel()
      await Promise.resolve()
      closed.push(closing)
    }
    await environment.run(() => closeSession({ host: hostOf({ close }) })(session))
    expect(closed).toEqual([session])
  })
})

describe('session.snapshot', () => {
  const input = { session, step: 7, limits }

  it('session.snapshot stores the state, with the attempt as part of the fence', async () => {
    const { values } = openValues()
    let fence: unknown
    const host = hostOf({
      snapshot: (_session, step, requested, { attempt }) => {
        fence = { step, attempt, bytes: requested.bytes, seconds: requested.seconds }
        return Promise.resolve({ type: 'snapshot', pieces: ['QUJD', 'REVG'] })
      },
    })
    const activity = snapshotSession({ host, values })
    const result: SnapshotResult = await new MockActivityEnvironment({ attempt: 2 }).run(() => activity(input))
    expect(fence).toEqual({ step: 7, attempt: 2, bytes: 32 * 1024 * 1024, seconds: 5 })
    if (result.type !== 'stored') throw new Error(result.reason)
    const pieces: string[] = []
    for await (const piece of values.readText(result.state, 'it', AbortSignal.timeout(5_000))) pieces.push(piece)
    expect(pieces.join('')).toBe('"QUJDREVG"')
  })

  it('session.snapshot skips the snapshot when the sandbox or the store refuses', async () => {
    const { values } = openValues()
    const refusing = hostOf({ snapshot: () => Promise.resolve({ type: 'no_snapshot', reason: 'a socket is open' }) })
    const skipped: unknown = await new MockActivityEnvironment().run(() =>
      snapshotSession({ host: refusing, values })(input),
    )
    expect(skipped).toMatchObject({ type: 'skipped', reason: expect.stringContaining('a socket is open') })
    const full = new PtcError('VALUE_STORE_FULL', 'the disk is full')
    values.storeText = () => Promise.reject(full)
    const host = hostOf({ snapshot: () => Promise.resolve({ type: 'snapshot', pieces: ['QUJD'] }) })
    const result: unknown = await new MockActivityEnvironment().run(() => snapshotSession({ host, values })(input))
    expect(result).toEqual({ type: 'skipped', reason: 'the disk is full' })
  })

  it('session.snapshot stores nothing after a cancellation', async () => {
    const { values, folder } = openValues()
    const environment = new MockActivityEnvironment()
    const host = hostOf({
      snapshot: () => {
        environment.cancel()
        return Promise.resolve({ type: 'snapshot', pieces: ['QUJD'] })
      },
    })
    const failure = await failureOf(environment.run(() => snapshotSession({ host, values })(input)))
    expect(failure).toBeInstanceOf(CancelledFailure)
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('session.step', () => {
  const completed: StepResult = { type: 'completed', output: 'done' }
  const suspended: StepResult = {
    type: 'suspended',
    calls: [{ index: 1, tool: 'pay', arguments: {} }],
    wakeInMs: null,
    output: '',
  }
  const cell = { type: 'cell', cell: 1, source: 'await pay()' } as const
  const step: Step = { number: 2, now: 5, input: { type: 'results', results: [] } }

  /** Executes a step on a host that answers each step with the next result, and records the sent steps. */
  function execute(results: readonly StepResult[], recorded?: readonly RecordedStep[], attempt = 1) {
    const remaining = [...results]
    const sent: { readonly number: number; readonly attempt: number }[] = []
    const environment = new MockActivityEnvironment({ attempt, heartbeatTimeoutMs: 60 })
    const heartbeats: unknown[] = []
    environment.on('heartbeat', (details) => heartbeats.push(details))
    const host = hostOf({
      executeStep: async (
        _session: SessionRef,
        { number }: { readonly number: number },
        _attach: unknown,
        options: { readonly attempt: number; readonly onOutput: (text: string) => void },
      ) => {
        sent.push({ number, attempt: options.attempt })
        options.onOutput('x'.repeat(1_000))
        options.onOutput('the end')
        await new Promise((resolve) => setTimeout(resolve, 100))
        return remaining.shift() ?? completed
      },
    })
    const activity = executeStep({ host, registry, values: openValues().values, followUps: noFollowUps, ...network })
    const journal = recorded && { recorded: { log: null, latest: recorded } }
    const result: Promise<unknown> = environment.run(() =>
      activity({ session, tools, step, outputLimit: 1_000, limits, ...journal }),
    )
    return { result, sent, heartbeats }
  }

  it('session.step sends the attempt as part of the fence, and reports the end of the output', async () => {
    const { result, sent, heartbeats } = execute([completed], undefined, 3)
    expect(await result).toEqual({ type: 'completed', output: 'done' })
    expect(sent).toEqual([{ number: 2, attempt: 3 }])
    expect(heartbeats).toContainEqual({ printed: `${'x'.repeat(493)}the end` })
  })

  const recordedOf = (digest: string): RecordedStep => ({
    now: 0,
    input: cell,
    result: { type: 'suspended', calls: [{ index: 1, digest, summary: 'pay()' }] },
  })

  it('session.step repeats recorded steps before the new one, and stops where the program differs', async () => {
    const { result, sent } = execute([suspended, completed], [recordedOf('other')])
    expect(await result).toMatchObject({ type: 'diverged', reason: expect.stringMatching(/^in cell 1, /) })
    expect(sent.map(({ number }) => number)).toEqual([1])
  })

  it('session.step returns that the sandbox was lost during a rebuild', async () => {
    const lost: StepResult = { type: 'lost', cause: 'gone', reason: 'the sandbox is no longer there' }
    const { result, sent } = execute([lost], [recordedOf('any')])
    expect(await result).toEqual(lost)
    expect(sent).toHaveLength(1)
  })
})
