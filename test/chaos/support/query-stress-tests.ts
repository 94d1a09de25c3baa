import { expect, it } from 'vitest'
import { queryStressSeed, runQueryStress } from '../../support/query-stress/stress.js'

/** PTC_QUERY_RUNS: runs of each file. */
const { PTC_QUERY_RUNS: runs = '50' } = process.env

/** Four files share 200 runs, so that CI can run one file at a time. PTC_QUERY_SEED repeats the plans of one file. */
export function queryStressTests(): void {
  it('F31: histories of hundreds of continuously queried runs replay', { timeout: 3_600_000 }, async () => {
    const report = await runQueryStress(queryStressSeed(), Number(runs))
    expect(report).toMatchObject({ hanging: [], nondeterministic: [] })
    expect(report.queries.answered).toBeGreaterThan(report.runs)
    // The test proves nothing without each kind of fault, rejected queries, and continue-as-new.
    for (const [kind, times] of Object.entries(report.faults)) expect(times, kind).toBeGreaterThan(0)
    expect(report.queries.refused).toBeGreaterThan(0)
    expect(report.histories).toBeGreaterThan(report.runs)
  })
}
