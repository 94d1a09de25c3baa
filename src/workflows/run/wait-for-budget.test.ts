import { upsertMemo } from '@temporalio/workflow'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { passTime, settle, startFakeWorkflow } from '../../../test/support/workflow/fake-workflow.js'
import type { Budget } from '../../common/budget/budget.js'
import { zeroCounts } from '../../common/run/runs.js'
import { testRun } from '../../../test/support/workflow/test-run.js'
import { announcePause } from '../temporal/activities.js'
import { waitForBudget } from './wait-for-budget.js'

vi.mock('@temporalio/workflow', async (importOriginal) => {
  const { fakeWorkflowModule } = await import('../../../test/support/workflow/fake-workflow.js')
  return { ...(await importOriginal<object>()), ...fakeWorkflowModule, upsertMemo: vi.fn() }
})
vi.mock('../temporal/activities.js', () => ({ announcePause: vi.fn(() => Promise.resolve()) }))

const now = Date.parse('2026-11-26T12:00:00Z')

beforeEach(() => {
  startFakeWorkflow()
  vi.setSystemTime(now)
  vi.mocked(upsertMemo).mockReset()
  vi.mocked(announcePause).mockClear()
})
afterEach(() => void vi.useRealTimers())

/** A run that has used 2 dollars and 2 turns. */
function start(budget: Budget) {
  const counts = { ...zeroCounts, turns: 2, costUsd: 2 }
  const run = testRun({ kind: 'agent', counts, config: { budget } })
  let isInterrupted = false
  const waiting = waitForBudget(run, () => isInterrupted)
  return { run, waiting, interrupt: () => (isInterrupted = true) }
}

const paused = () => vi.mocked(upsertMemo).mock.calls.map(([memo]) => memo['paused'])

it('says which amount is spent after a raise of another one', async () => {
  const { run, waiting } = start({ costUsd: 2, turns: 2 })
  await passTime(1_000)
  run.budget.set({ costUsd: 10 })
  // The response to the raise says so, too.
  expect(run.budget.status.paused).toMatchObject({ item: 'turns' })
  await settle()
  expect(paused()).toEqual([
    { item: 'costUsd', amount: 2, since: now },
    null,
    { item: 'turns', amount: 2, since: now + 1_000 },
  ])
  expect(run.progress.activity).toEqual({ type: 'paused', reason: 'the budget of 2 turns is spent', item: 'turns' })
  expect(announcePause).toHaveBeenCalledTimes(2)
  run.budget.set({ turns: 3 })
  expect(run.budget.status.paused).toBeNull()
  await settle()
  expect(await waiting).toBe(true)
  expect(paused().at(-1)).toBeNull()
})

it('says the amount after a raise that is not enough, and since when the run waits', async () => {
  const { run } = start({ turns: 1 })
  await passTime(1_000)
  run.budget.set({ turns: 2 })
  expect(run.budget.status.paused).toEqual({ item: 'turns', since: now })
  await settle()
  expect(paused()).toEqual([{ item: 'turns', amount: 1, since: now }, null, { item: 'turns', amount: 2, since: now }])
  expect(run.budget.status.paused).toEqual({ item: 'turns', since: now })
})

it.each([
  { budget: { turns: 2 }, raise: { turns: 3 } },
  { budget: { turns: 2 }, raise: { turns: null } },
  { budget: { costUsd: 2, turns: 2 }, raise: { costUsd: 10, turns: 10 } },
])('records one pause when the raise is enough: $raise', async ({ budget, raise }) => {
  const { run, waiting } = start(budget)
  await settle()
  run.budget.set(raise)
  await settle()
  expect(await waiting).toBe(true)
  expect(paused()).toHaveLength(2)
})

it('ends when it is interrupted', async () => {
  const { waiting, interrupt } = start({ turns: 2 })
  await settle()
  interrupt()
  await settle()
  expect(await waiting).toBe(false)
  expect(paused()).toHaveLength(2)
})
