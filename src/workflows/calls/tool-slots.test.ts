import { ActivityFailure, ApplicationFailure } from '@temporalio/common'
import { CancellationScope } from '@temporalio/workflow'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeWorkflow, passTime, settle, startFakeWorkflow } from '../../../test/support/workflow/fake-workflow.js'
import { limiter, released, requested, SlotsOfRun } from '../../../test/support/workflow/slots-of-run.js'
import { Deferred } from '../../../test/support/tools.js'
import type { SlotAnswer } from '../../common/calls/tool-slots.js'
import { requestSlot } from '../temporal/activities.js'
import { handleCallMessages } from './messages.js'
import type { RunCalls } from './run-calls.js'

vi.mock('@temporalio/workflow', async (importOriginal) => {
  const { fakeWorkflowModule } = await import('../../../test/support/workflow/fake-workflow.js')
  return { ...(await importOriginal<object>()), ...fakeWorkflowModule }
})
vi.mock('../temporal/activities.js', () => ({ requestSlot: vi.fn() }))

const minutes = 60_000

beforeEach(() => {
  startFakeWorkflow({ workflowId: 'run' })
  vi.mocked(requestSlot).mockReset().mockResolvedValue()
})
afterEach(() => void vi.useRealTimers())

describe('the calls of a run', () => {
  it('the calls of a run request at most the slots of the tool, begin after a grant, and give slots back', async () => {
    const run = new SlotsOfRun()
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
    const run = new SlotsOfRun()
    await run.calls('a', 'b', 'queued')
    expect(await run.answer('a')).toBe(true)
    expect(await run.answer('a')).toBe(true)
    expect(await run.answer('queued')).toBe(false)
    expect(await run.answer('other')).toBe(false)
    expect(run.begun).toEqual(['a'])
  })

  it('a failed call gives its slot back', async () => {
    const run = new SlotsOfRun()
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
    const run = new SlotsOfRun()
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

describe('a request without an answer', () => {
  it('a request for a slot is repeated every 5 minutes until it has an answer', async () => {
    const run = new SlotsOfRun()
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
    const run = new SlotsOfRun()
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
    const run = new SlotsOfRun()
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
    const run = new SlotsOfRun()
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
    const run = new SlotsOfRun()
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
    const next = new SlotsOfRun(state)
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
    const run = new SlotsOfRun()
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
    const [one, other] = [new SlotsOfRun(), new SlotsOfRun()]
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
