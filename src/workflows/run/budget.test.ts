import { expect, it } from 'vitest'
import { zeroCounts } from '../../common/run/runs.js'
import { RunBudget } from './budget.js'

const counts = { ...zeroCounts, turns: 1 }

it('open leases count as used, also in the next execution of the chain', () => {
  const budget = new RunBudget(() => counts, { turns: 9 })
  expect(budget.lease('a', undefined)).toEqual({ status: 'leased', amounts: { turns: 4 } })
  expect(budget.lease('b', { turns: 3 })).toEqual({ status: 'leased', amounts: { turns: 3 } })
  expect(budget.status.used).toMatchObject({ turns: 8 })
  const next = new RunBudget(() => counts, undefined, budget.state)
  expect(next.status.used).toMatchObject({ turns: 8 })
  next.closeLease('a')
  expect(next.lease('c', { turns: 100 })).toEqual({ status: 'leased', amounts: { turns: 5 } })
  expect(next.spent).toBe('turns')
  expect(next.lease('d', undefined)).toEqual({ status: 'refused', reason: 'the budget of 9 turns is spent' })
})

it('the state of a run without sub-agents has no leases', () => {
  expect(new RunBudget(() => counts, { turns: 9 }).state).toEqual({
    startedAt: expect.any(Number) as number,
    budget: { turns: 9 },
  })
  const unbounded = new RunBudget(() => counts, undefined)
  expect(unbounded.lease('a', { turns: 1 })).toEqual({ status: 'leased', amounts: {} })
  expect(unbounded.state).toBeUndefined()
})
