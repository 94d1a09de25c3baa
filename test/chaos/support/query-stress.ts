import { expect, it } from 'vitest'
import { seedOfStress, stress } from '../../support/query-stress/stress.js'

/** PTC_QUERY_RUNS: runs of each file. */
const { PTC_QUERY_RUNS: runs = '50' } = process.env

/** One of four files that share two hundred runs, so that CI can have one of them at a time; each has a seed of its own. */
export function describeQueryStress(shard: 0 | 1 | 2 | 3): void {
  it('F31: hundreds of runs that are queried at every moment replay', { timeout: 3_600_000 }, async () => {
    const report = await stress(seedOfStress() + shard, Number(runs))
    expect(report).toMatchObject({ hanging: [], poisoned: [] })
    expect(report.queries.answered).toBeGreaterThan(report.runs)
  })
}
