import { ActivityFailure, ApplicationFailure } from '@temporalio/common'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  fakeWorkflow,
  passTime,
  settle,
  startFakeWorkflow,
  takeSent,
} from '../../../test/support/workflow/fake-workflow.js'
import { Deferred } from '../../../test/support/tools.js'
import type { RequestSlotInput, SlotAnswer } from '../../common/calls/tool-slots.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import { testRun } from '../../../test/support/workflow/test-run.js'
import { requestSlot } from '../temporal/activities.js'
import { CancellationScope } from '@temporalio/workflow'
import { isEnded } from './call-state.js'
import { maxDurationOf } from './call-options.js'
import { handleCallMessages } from './messages.js'
import type { RunCalls } from './run-calls.js'
import { ToolSlots } from './tool-slots.js'
import { WaitingCalls, type WaitingCallState } from './waiting-calls.js'
import type { CallIdentity } from '../../common/calls/calls.js'
import type { RunKind } from '../../common/run/runs.js'

vi.mock('@temporalio/workflow', async (importOriginal) => {
  const { fakeWorkflowModule } = await import('../../../test/support/workflow/fake-workflow.js')
  return { ...(await importOriginal<object>()), ...fakeWorkflowModule }
})
vi.mock('../temporal/activities.js', () => ({ requestSlot: vi.fn() }))

const minutes = 60_000
const limiter = 'tool-limit:queue:work'
const work: ToolConfig = {
  name: 'work',
  concurrency: 2,
  allowedCallers: ['direct'],
  effect: 'read',
  timeoutMs: 1,
  attempts: 1,
  inputDigest: '',
}
const identityOf = (idempotencyKey: string): CallIdentity => ({
  tool: 'work',
  caller: 'direct',
  position: { turn: 1, cell: 0, index: 1 },
  idempotencyKey,
})

beforeEach(() => {
  startFakeWorkflow({ workflowId: 'run' })
  vi.mocked(requestSlot).mockReset().mockResolvedValue()
})
afterEach(() => void vi.useRealTimers())

/** Keys of the requests since the last call. */
function requested(): readonly string[] {
  const inputs = vi
    .mocked(requestSlot)
    .mock.calls.splice(0)
    .map(([input]) => input)
  for (const input of inputs) expect(input).toEqual(requestInput(input.request.key))
  return inputs.map(({ request }) => request.key)
}

function requestInput(key: string): RequestSlotInput {
  const request = { key, workflowId: 'run', slots: 2, maxHoldMs: maxDurationOf(work), mayKeep: true as const }
  return { tool: 'work', limiter, taskQueue: 'queue', request }
}

/** Keys of the slots that were given back since the last call. */
function released(): readonly string[] {
  return takeSent().map(({ workflowId, signal, input }) => {
    expect({ workflowId, signal }).toEqual({ workflowId: limiter, signal: 'release' })
    return (input as { readonly key: string }).key
  })
}

const limitedCall = (key: string) => ({
  tool: work,
  input: { ...identityOf(key), arguments: { id: 1 } },
  report: () => undefined,
  record: (outcome: CallOutcome) => outcome,
})

/** The slots of a run, and its calls, which a test ends. */
class TestRun {
  readonly slots: ToolSlots
  readonly waiting: WaitingCalls
  /** Keys of calls in the order of their start. */
  readonly begun: string[] = []
  readonly begunAtOnce: string[] = []
  readonly refusals: Record<string, string> = {}
  readonly #ends = new Map<string, Deferred>()

  constructor(state?: readonly WaitingCallState[], kind: RunKind = 'program') {
    this.waiting = new WaitingCalls(state)
    this.slots = new ToolSlots(testRun({ kind, config: { tools: [work] } }), this.waiting)
  }

  /** Settles when the call has ended. */
  async call(key: string, execute = (hasWaited: boolean) => this.#execute(key, hasWaited)): Promise<string> {
    try {
      const outcome = await this.slots.run(limitedCall(key), execute)
      if (outcome.status === 'denied') this.refusals[key] = outcome.message
      return 'ended'
    } catch (thrown) {
      return (thrown as Error).message
    } finally {
      const call = this.waiting.get(key)
      if (call && !isEnded(call.state)) this.waiting.remove(call)
    }
  }

  async #execute(key: string, hasWaited: boolean): Promise<CallOutcome> {
    const end = new Deferred()
    this.#ends.set(key, end)
    this.begun.push(key)
    if (!hasWaited) this.begunAtOnce.push(key)
    await end.promise
    return { status: 'ok', value: null }
  }

  /** The calls for the next execution of the run: key and state. */
  get state(): readonly (readonly [string, string])[] {
    return this.waiting.state.map(({ idempotencyKey, state }) => [idempotencyKey, state.type])
  }

  async calls(...keys: readonly string[]): Promise<void> {
    for (const key of keys) void this.call(key)
    await settle()
  }

  async answer(
    key: string,
    answer: SlotAnswer['answer'] = 'granted',
    kept: Pick<SlotAnswer, 'keepMs' | 'isRecalled'> = {},
  ): Promise<boolean> {
    const isKnown = this.slots.answer({ key, limiter, answer, ...kept })
    await settle()
    return isKnown
  }

  async end(key: string): Promise<void> {
    this.#ends.get(key)?.resolve()
    await settle()
  }
}

describe('the calls of a run', () => {
  it('the calls of a run request at most the slots of the tool, begin after a grant, and give slots back', async () => {
    const run = new TestRun()
    await run.calls('a', 'b', 'c')
    expect(requested()).toEqual(['a', 'b'])
    expect(run.begun).toEqual([])
    expect(await run.answer('b')).toBe(true)
    expect(run.begun).toEqual(['b'])
    await run.end('b')
    expect(released()).toEqual(['b'])
    expect(requested()).toEqual(['c'])
    await run.answer('a')
    await run.answer('c')
    expect(run.begun).toEqual(['b', 'a', 'c'])
    await run.end('a')
    await run.end('c')
    expect(released()).toEqual(['a', 'c'])
    expect(run.state).toEqual([])
  })

  it('a call begins once when its grant arrives twice, and grants of unknown or queued calls are refused', async () => {
    const run = new TestRun()
    await run.calls('a', 'b', 'queued')
    expect(await run.answer('a')).toBe(true)
    expect(await run.answer('a')).toBe(true)
    expect(await run.answer('queued')).toBe(false)
    expect(await run.answer('other')).toBe(false)
    expect(run.begun).toEqual(['a'])
  })

  it('a failed call gives its slot back', async () => {
    const run = new TestRun()
    const failing = run.call('a', () => Promise.reject(new Error('broken')))
    await settle()
    await run.answer('a')
    expect(await failing).toBe('broken')
    expect(released()).toEqual(['a'])
  })

  it('calls are refused when the limiter refuses them, or when it can not be asked', async () => {
    const cause = ApplicationFailure.nonRetryable('no worker')
    const failure = new ActivityFailure('failed', 'tool.slot', '1', 'MAXIMUM_ATTEMPTS_REACHED', 'worker', cause)
    vi.mocked(requestSlot).mockResolvedValueOnce().mockRejectedValueOnce(failure)
    const run = new TestRun()
    await run.calls('a', 'b')
    await run.answer('a', 'refused')
    expect(run.refusals).toEqual({
      a: 'work has no slot free: too many calls wait for one',
      b: 'work has no slot free: no worker',
    })
    expect(run.begun).toEqual([])
    // The limiter may have got the request of b.
    expect(released()).toEqual(['b'])
    expect(run.state).toEqual([])
  })
})

describe('a kept slot', () => {
  const minute = { keepMs: 60_000 }
  const turn = { keepMs: 500, isRecalled: true } as const

  /** A run in which the slot of call `a` is kept. */
  async function runWithKeptSlot(): Promise<TestRun> {
    const run = new TestRun()
    await run.calls('a')
    await run.answer('a', 'granted', minute)
    await run.end('a')
    expect([requested(), released()]).toEqual([['a'], []])
    return run
  }

  it('calls use a kept slot one after the other, without a request, and begin at once', async () => {
    const run = await runWithKeptSlot()
    for (const key of ['b', 'c']) {
      await run.calls(key)
      await run.end(key)
    }
    expect(run.begun).toEqual(['a', 'b', 'c'])
    expect(run.begunAtOnce).toEqual(['b', 'c'])
    expect([requested(), released()]).toEqual([[], []])
  })

  it('a call that finds no slot that the run keeps requests one', async () => {
    const run = await runWithKeptSlot()
    await run.calls('b', 'c', 'queued')
    expect(run.begun).toEqual(['a', 'b'])
    expect(requested()).toEqual(['c'])
    await run.end('b')
    expect(run.begun).toEqual(['a', 'b', 'queued'])
    expect(run.begunAtOnce).toEqual(['b'])
    expect(released()).toEqual([])
  })

  it('a recalled slot that is not in use goes back at once, and later calls request one', async () => {
    const run = await runWithKeptSlot()
    expect(await run.answer('a', 'granted', turn)).toBe(true)
    expect(released()).toEqual(['a'])
    expect(await run.answer('a', 'granted', turn)).toBe(false)
    await run.calls('b')
    expect(requested()).toEqual(['b'])
  })

  it('a recalled slot goes back after the call that uses it, also by the name of an earlier call', async () => {
    const run = await runWithKeptSlot()
    await run.calls('b')
    expect(await run.answer('a', 'granted', turn)).toBe(true)
    expect(released()).toEqual([])
    await run.end('b')
    expect(released()).toEqual(['a'])
  })

  it('a slot that others wait for serves the queued calls of its run for a turn', async () => {
    const run = new TestRun()
    await run.calls('a', 'b', 'c', 'd', 'e')
    await run.answer('a', 'granted', turn)
    await run.end('a')
    expect([run.begun, released()]).toEqual([['a', 'c'], []])
    await passTime(499)
    await run.end('c')
    expect([run.begun, released()]).toEqual([['a', 'c', 'd'], []])
    await passTime(1)
    await run.end('d')
    expect([run.begun, released()]).toEqual([['a', 'c', 'd'], ['a']])
    expect(requested()).toEqual(['a', 'b', 'e'])
  })

  it('a recalled slot goes back when the last queued call is cancelled', async () => {
    const run = new TestRun()
    const scope = new CancellationScope()
    await run.calls('a', 'b')
    await run.answer('a', 'granted', minute)
    const queued = scope.run(() => run.call('queued'))
    await run.answer('a', 'granted', turn)
    scope.cancel()
    await run.end('a')
    expect(await queued).toBe('cancelled')
    expect(released()).toEqual(['a'])
  })

  it('no call begins with a slot that was kept for too long', async () => {
    const run = await runWithKeptSlot()
    await passTime(60_000)
    await run.calls('b')
    expect(run.begun).toEqual(['a'])
    expect(requested()).toEqual(['b'])
    await run.answer('b', 'granted', minute)
    await run.end('b')
    expect(released()).toEqual(['a'])
  })

  it('a failed call leaves its slot to the next call', async () => {
    const run = await runWithKeptSlot()
    expect(await run.call('b', () => Promise.reject(new Error('broken')))).toBe('broken')
    await run.calls('c')
    expect([run.begun, requested(), released()]).toEqual([['a', 'c'], [], []])
  })

  it('the next execution of the run returns a slot that is not in use, and keeps another', async () => {
    const run = await runWithKeptSlot()
    await run.calls('b')
    await run.calls('c')
    await run.answer('c', 'granted', minute)
    await run.end('c')
    const next = new TestRun(structuredClone(run.waiting.state))
    expect(released()).toEqual(['c'])
    requested()
    await next.calls('b')
    await next.end('b')
    await next.calls('d')
    expect(next.begun).toEqual(['b', 'd'])
    expect([requested(), released()]).toEqual([[], []])
  })

  it('the end of a run returns the slots that it keeps', async () => {
    const run = await runWithKeptSlot()
    await run.calls('b')
    await run.calls('c')
    await run.answer('c', 'granted', minute)
    await run.end('c')
    await run.slots.close()
    await run.end('b')
    expect(released()).toEqual(['a', 'c'])
    expect(run.state).toEqual([])
  })

  it('a direct call in a run that has no end can keep no slot', async () => {
    const run = new TestRun([], 'embedded')
    await run.calls('a')
    const [[input] = []] = vi.mocked(requestSlot).mock.calls
    expect(input?.request).not.toHaveProperty('mayKeep')
  })
})

describe('a request without an answer', () => {
  it('a request for a slot is repeated every 5 minutes until it has an answer', async () => {
    const run = new TestRun()
    await run.calls('a', 'b', 'queued')
    await run.answer('a')
    requested()
    await passTime(5 * minutes - 1)
    expect(requested()).toEqual([])
    await passTime(1)
    expect(requested()).toEqual(['b'])
    await passTime(5 * minutes)
    expect(requested()).toEqual(['b'])
    await run.answer('b')
    await passTime(10 * minutes)
    expect(requested()).toEqual([])
    expect(run.begun).toEqual(['a', 'b'])
  })

  it('a request for a slot is repeated after a failed repetition', async () => {
    const run = new TestRun()
    await run.calls('a')
    requested()
    vi.mocked(requestSlot).mockRejectedValueOnce(new Error('no worker'))
    await passTime(5 * minutes)
    expect(requested()).toEqual(['a'])
    await passTime(5 * minutes)
    expect(requested()).toEqual(['a'])
    await run.answer('a')
    expect(run.begun).toEqual(['a'])
  })

  it('requests for slots are repeated also after the first call was cancelled', async () => {
    const run = new TestRun()
    const scope = new CancellationScope()
    void scope.run(() => run.call('a'))
    await run.calls('b')
    scope.cancel()
    await settle()
    requested()
    await passTime(5 * minutes)
    expect(requested()).toEqual(['b'])
  })
})

describe('a cancelled call', () => {
  it('a cancelled call gives up its place for a slot, and does not begin', async () => {
    const run = new TestRun()
    const scope = new CancellationScope()
    await run.calls('a')
    const waiting = scope.run(() => run.call('b'))
    const queued = scope.run(() => run.call('c'))
    await settle()
    expect(requested()).toEqual(['a', 'b'])
    scope.cancel()
    await settle()
    expect([await waiting, await queued]).toEqual(['cancelled', 'cancelled'])
    expect(released()).toEqual(['b'])
    expect(await run.answer('b')).toBe(false)
    expect(run.waiting.get('c')).toBeUndefined()
    await run.calls('d')
    expect(requested()).toEqual(['d'])
    expect(run.begun).toEqual([])
  })
})

describe('the next execution of a run', () => {
  it('the next execution of a run keeps slots, and repeats requests and unconfirmed releases', async () => {
    fakeWorkflow.deliver = () => new Promise(() => undefined)
    const run = new TestRun()
    await run.calls('a', 'b')
    await run.answer('a')
    await run.answer('b')
    await run.end('b')
    await run.calls('c', 'queued')
    expect(run.state).toEqual([
      ['a', 'granted'],
      ['b', 'returning'],
      ['c', 'requested'],
    ])
    requested()
    expect(released()).toEqual(['b'])

    const state = structuredClone(run.waiting.state)
    startFakeWorkflow({ workflowId: 'run' })
    const next = new TestRun(state)
    expect(released()).toEqual(['b'])
    await next.calls('a', 'c', 'queued')
    expect(requested()).toEqual(['c', 'queued'])
    expect(next.begun).toEqual(['a'])
    await next.answer('c')
    expect(next.begun).toEqual(['a', 'c'])
    await next.end('a')
    expect(released()).toEqual(['a'])
  })
})

describe('the end of a run', () => {
  it('the end of a run gives all slots back, and waits until the limiter has them, or has ended', async () => {
    const deliveries: Record<string, Deferred> = { a: new Deferred(), b: new Deferred() }
    fakeWorkflow.deliver = async ({ input }) => {
      const { key } = input as { readonly key: string }
      await deliveries[key]?.promise
      if (key === 'b') throw new Error('not found')
    }
    const run = new TestRun()
    await run.calls('a', 'b', 'queued')
    await run.answer('a')
    let isClosed = false
    void run.slots.close().then(() => (isClosed = true))
    await settle()
    expect(released()).toEqual(['a', 'b'])
    deliveries['a']?.resolve()
    await settle()
    expect(isClosed).toBe(false)
    deliveries['b']?.resolve()
    await settle()
    expect(isClosed).toBe(true)
    requested()
    await passTime(10 * minutes)
    expect(requested()).toEqual([])
  })
})

describe('an answer of a limiter', () => {
  it('an answer of a limiter goes to the run that has the call; a slot that no run wants is given back', async () => {
    const [one, other] = [new TestRun(), new TestRun()]
    handleCallMessages(() => [{ toolSlots: one.slots }, { toolSlots: other.slots }] as unknown as RunCalls[])
    const answer = async (key: string, given: SlotAnswer['answer']) => {
      const input: SlotAnswer = { key, limiter, answer: given }
      fakeWorkflow.handlers.get('ptc.slotAnswer')?.(input)
      await settle()
    }
    await one.calls('a')
    await other.calls('b')
    await answer('b', 'granted')
    expect([one.begun, other.begun]).toEqual([[], ['b']])
    await answer('unknown', 'refused')
    expect(released()).toEqual([])
    await answer('unknown', 'granted')
    expect(released()).toEqual(['unknown'])
  })
})
