import { expect, it } from 'vitest'
import { addLeases, addSubagentCounts, budgetWithin, decideLease } from './leases.js'
import { zeroCounts } from '../run/runs.js'

const used = { costUsd: 0.5, tokens: 100, turns: 1, toolCalls: 1, seconds: 10 }

it.each([
  ['half of what is left', { costUsd: 2.5, tokens: 1_101, turns: 4 }, {}, { costUsd: 1, tokens: 501, turns: 2 }],
  ['the own budget of the agent', { costUsd: 2.5, turns: 9 }, { costUsd: 0.1, turns: 7 }, { costUsd: 0.1, turns: 7 }],
  ['what is left, of a larger own budget', { toolCalls: 4 }, { toolCalls: 50 }, { toolCalls: 3 }],
  ['the last one', { turns: 2 }, {}, { turns: 1 }],
  ['all the time that is left', { seconds: 70 }, {}, { seconds: 60 }],
  ['no bound where the run has none', {}, { turns: 3 }, {}],
])('a sub-agent gets a lease of %s', (_name, budget, own, amounts) => {
  expect(decideLease(budget, used, own)).toEqual({ status: 'leased', amounts })
})

it.each([
  [{ turns: 1, tokens: 1_000 }, used, 'turns'],
  [{ seconds: 10 }, used, 'seconds'],
  [{ costUsd: 5 }, { ...used, costUsd: undefined }, 'costUsd'],
])('a sub-agent gets no lease of a spent budget: %j', (budget, amounts, item) => {
  const { costUsd, ...others } = amounts
  const known = costUsd === undefined ? others : { ...others, costUsd }
  expect(decideLease(budget, known)).toEqual({ status: 'spent', item })
})

it('the leases of sub-agents that run at the same time are at most the whole budget', () => {
  const budget = { costUsd: 1, tokens: 1_000, turns: 7, toolCalls: 5, seconds: 60 }
  for (const own of [{}, { costUsd: 0.3, turns: 3 }, { tokens: 600, toolCalls: 2 }]) {
    const leases: Parameters<typeof budgetWithin>[0][] = []
    const spent = { costUsd: 0.2, tokens: 10, turns: 1, toolCalls: 1, seconds: 5 }
    for (;;) {
      const decision = decideLease(budget, addLeases(spent, leases), own)
      if (decision.status === 'spent') break
      leases.push(decision.amounts)
    }
    expect(leases.length).toBeGreaterThan(1)
    const total = addLeases(spent, leases)
    for (const item of ['costUsd', 'tokens', 'turns', 'toolCalls'] as const)
      expect(total[item]).toBeLessThanOrEqual(budget[item])
    expect(total.seconds).toBe(5)
  }
})

it('a sub-agent has at most its lease and at most its own budget, and ends then', () => {
  const own = { costUsd: 3, turns: 2, whenSpent: 'pause' as const }
  expect(budgetWithin(own, { costUsd: 1, turns: 5, tokens: 9 })).toEqual({
    costUsd: 1,
    turns: 2,
    tokens: 9,
    whenSpent: 'end',
  })
})

it('the counts of a sub-agent include its own sub-agents, and no cost when one is unknown', () => {
  const usage = { inputTokens: 10, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const subagents = { runs: 2, turns: 5, cells: 1, toolCalls: 1 }
  const child = { ...zeroCounts, turns: 2, toolCalls: 3, usage, costUsd: 0.25, subagents }
  const once = addSubagentCounts({ ...zeroCounts, turns: 1, costUsd: 0.5 }, child)
  expect(once).toMatchObject({ turns: 1, toolCalls: 0, usage, costUsd: 0.75 })
  expect(once.subagents).toEqual({ runs: 3, turns: 7, cells: 1, toolCalls: 4 })
  const twice = addSubagentCounts(once, { ...child, costUsd: null })
  expect(twice).toMatchObject({ costUsd: null, subagents: { runs: 6, turns: 14 } })
})
