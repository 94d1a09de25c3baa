import { expect, it } from 'vitest'
import { seedOfStress, stress } from '../../support/query-stress/stress.js'

it('F31: hundreds of runs that are queried at every moment replay', { timeout: 3_600_000 }, async () => {
  const report = await stress(seedOfStress(), Number(process.env['PTC_QUERY_RUNS'] ?? 200))
  expect(report).toMatchObject({ hanging: [], poisoned: [] })
  expect(report.queries.answered).toBeGreaterThan(report.runs)
})
