import { describe, expect, it } from 'vitest'
import { checkAllEffects } from '../../chaos/support/soak/effect-check.js'
import type { Fault } from '../../chaos/support/soak/faults.js'
import { quantilesOf, recoveriesOf } from '../../chaos/support/soak/recovery.js'
import { checkResult, soakRun, unknownOutcome } from '../../chaos/support/soak/workload.js'
import { faultSchedule } from '../../support/faults/restart-loop.js'

const run = soakRun(1)
const entries = (names: readonly string[]) => names.map((name) => ({ name, key: `key of ${name}` }))
const all = [...run.effects, ...run.onceEffects]

describe('the checks of the soak', () => {
  it('the checks of the soak accept each effect once, also when it was requested again with its key', () => {
    const [first = ''] = run.effects
    const ledger = { applied: entries(all), requests: entries([...all, first]) }
    expect(checkAllEffects(ledger, [run], [])).toEqual({ effects: all.length, lost: [], doubled: [] })
  })

  it('the checks of the soak find lost, doubled and foreign effects, and repeated `once` requests', () => {
    const [lost = '', doubled = '', ...others] = run.effects
    const [once = ''] = run.onceEffects
    const names = [doubled, ...others, ...run.onceEffects, 'foreign']
    const applied = [...entries(names), { name: doubled, key: 'another key' }]
    expect(checkAllEffects({ applied, requests: entries([...names, once]) }, [run], [])).toEqual({
      effects: names.length + 1,
      lost: [lost],
      doubled: ['foreign', doubled, `${once} was requested again`],
    })
  })

  it('the checks of the soak accept a `once` effect of unknown outcome that has not happened', () => {
    const [once = '', ...others] = run.onceEffects
    const names = [...run.effects, ...others]
    const ledger = { applied: entries(names), requests: entries(names) }
    expect(checkAllEffects(ledger, [run], []).lost).toEqual([once])
    expect(checkAllEffects(ledger, [run], [once]).lost).toEqual([])
  })

  it('the checks of the soak compare the whole output of a run', () => {
    const [once = ''] = run.onceEffects
    const result = (parts: readonly string[]) => ({
      outcome: { status: 'ok' as const, output: `${parts.join(',')}\n` },
      turns: 0,
      cells: 1,
      toolCalls: run.toolCalls,
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      costUsd: 0,
    })
    expect(checkResult(run, result(run.output))).toEqual({ problems: [], unknown: [] })
    const withUnknown = run.output.map((part) => (part === once ? unknownOutcome : part))
    expect(checkResult(run, result(withUnknown))).toEqual({ problems: [], unknown: [once] })
    expect(checkResult(run, result(run.output.slice(1))).problems).toHaveLength(1)
    expect(checkResult(run, { ...result(run.output), toolCalls: 1 }).problems).toHaveLength(1)
  })
})

describe('recovery', () => {
  const fault = (touched: readonly string[]): Fault => ({
    kind: 'host',
    victim: 'host 1',
    at: 100,
    until: 200,
    touched,
  })
  const call = (startedAt: number, completedAt: number) => ({ scheduledAt: 0, startedAt, completedAt })

  it('recovery ends with the first completed call whose attempt began after the fault, or with the run', () => {
    const calls = [call(90, 110), call(150, 400), call(300, 350)]
    const runs = [
      { workflowId: 'calls', startedAt: 0, endedAt: 1_000, calls },
      { workflowId: 'no call', startedAt: 0, endedAt: 500, calls: [call(90, 110)] },
      { workflowId: 'ended before', startedAt: 0, endedAt: 100, calls: [] },
    ]
    const recoveries = recoveriesOf([fault(['calls', 'no call', 'ended before', 'unknown'])], runs)
    expect(recoveries.map(({ workflowId, ms }) => [workflowId, ms])).toEqual([
      ['calls', 250],
      ['no call', 400],
    ])
  })

  it('quantiles of recoveries are samples', () => {
    const samples = Array.from({ length: 200 }, (_, index) => index + 1)
    expect(quantilesOf(samples)).toEqual({ count: 200, p50: 100, p99: 198, max: 200 })
    expect(quantilesOf([])).toEqual({ count: 0, p50: undefined, p99: undefined, max: undefined })
  })
})

it('a schedule of faults has each victim once in each round, and is the same for a seed', () => {
  const victims = ['a', 'b', 'c', 'd']
  const take = (seed: number) => {
    const schedule = faultSchedule(victims, seed)
    return Array.from({ length: 8 }, () => schedule.next().value)
  }
  expect(take(7)).toEqual(take(7))
  expect(take(7)).not.toEqual(take(8))
  const names = take(7).map(({ victim }) => victim)
  for (const round of [names.slice(0, 4), names.slice(4)]) expect(round.toSorted()).toEqual(victims)
})
