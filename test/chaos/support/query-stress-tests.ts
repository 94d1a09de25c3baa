import { expect, it } from 'vitest'
import { queryStressSeed, runQueryStress } from '../../support/query-stress/stress.js'

/** PTC_QUERY_RUNS: runs of each file. */
const { PTC_QUERY_RUNS: runs = '50' } = process.env

/** Four files share two hundred runs, so that CI can have one of them at a time. PTC_QUERY_SEED repeats the plans of one. */
export function queryStressTests(): void {
  it('F31: hundreds of runs that are queried at every moment replay', { timeout: 3_600_000 }, async () => {
    const report = await runQueryStress(queryStressSeed(), Number(runs))
    expect(report).toMatchObject({ hanging: [], nondeterministic: [] })
    expect(report.queries.answered).toBeGreaterThan(report.runs)
    // It did meet what it is about: each kind of harm, queries that the guard refuses, and fresh histories.
    for (const [kind, times] of Object.entries(report.faults)) expect(times, kind).toBeGreaterThan(0)
    expect(report.queries.refused).toBeGreaterThan(0)
    expect(report.histories).toBeGreaterThan(report.runs)
  })
}
