import { expect, it } from 'vitest'
import { queryStressSeed, runQueryStress } from '../../support/query-stress/stress.js'

// A run that a query has made unreplayable hangs as soon as it leaves the cache of its worker.
// test/chaos/query-stress has more runs.
it('F31: runs that are queried at every moment replay, while their workflow workers stall and die', async () => {
  const report = await runQueryStress(queryStressSeed(), 10)
  expect(report).toMatchObject({ hanging: [], nondeterministic: [] })
  expect(report.queries.answered).toBeGreaterThan(0)
})
