import { CancellationScope } from '@temporalio/workflow'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { passTime, startFakeWorkflow } from '../../../test/support/workflow/fake-workflow.js'
import { released, requested, SlotsOfRun } from '../../../test/support/workflow/slots-of-run.js'
import { requestSlot } from '../temporal/activities.js'

vi.mock('@temporalio/workflow', async (importOriginal) => {
  const { fakeWorkflowModule } = await import('../../../test/support/workflow/fake-workflow.js')
  return { ...(await importOriginal<object>()), ...fakeWorkflowModule }
})
vi.mock('../temporal/activities.js', () => ({ requestSlot: vi.fn() }))

beforeEach(() => {
  startFakeWorkflow({ workflowId: 'run' })
  vi.mocked(requestSlot).mockReset().mockResolvedValue()
})
afterEach(() => void vi.useRealTimers())

describe('a kept slot', () => {
  const minute = { keepMs: 60_000 }
  const turn = { keepMs: 500, isRecalled: true } as const

  /** A run in which the slot of call `a` is kept. */
  async function runWithKeptSlot(): Promise<SlotsOfRun> {
    const run = new SlotsOfRun()
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
    const run = new SlotsOfRun()
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

  it('a grant that arrives after the recall of its slot does not lengthen the turn', async () => {
    const run = new SlotsOfRun()
    await run.calls('a', 'b', 'c')
    await run.answer('a', 'granted', turn)
    await run.answer('a', 'granted', minute)
    await passTime(500)
    await run.end('a')
    expect([run.begun, released()]).toEqual([['a'], ['a']])
  })

  it('a recalled slot goes back when the last queued call is cancelled', async () => {
    const run = new SlotsOfRun()
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
    const next = new SlotsOfRun(structuredClone(run.waiting.state))
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
    const closed = run.slots.close()
    await run.end('b')
    await closed
    expect(released()).toEqual(['a', 'c'])
    expect(run.state).toEqual([])
  })

  it('a direct call in a run that has no end can keep no slot', async () => {
    const run = new SlotsOfRun([], 'embedded')
    await run.calls('a')
    const [[input] = []] = vi.mocked(requestSlot).mock.calls
    expect(input?.request).not.toHaveProperty('mayKeep')
  })
})
