import { expect, it } from 'vitest'
import { queryStressSeed, runQueryStress } from '../../support/query-stress/stress.js'

// A run that a query has made nondeterministic hangs as soon as it leaves the cache of its worker.
// test/chaos/query-stress has more runs.
it('F31: continuously queried runs replay, while their workflow workers stall and die', async () => {
  const report = await runQueryStress(queryStressSeed(), 6)
  expect(report).toMatchObject({ hanging: [], nondeterministic: [] })
  expect(report.queries.answered).toBeGreaterThan(0)
})
