import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { runScenario } from '../support/chaos-run.js'
import { minimumHits } from '../support/failpoint-tests.js'
import { noFaults } from '../support/fault-plan.js'

describeDocker('the scenario of the chaos tests', () => {
  it('the scenario completes without faults, and passes no failpoint much more often than planned', async () => {
    const hits = await runScenario(noFaults)
    for (const [point, minimum] of Object.entries(minimumHits)) {
      const count = hits.filter((hit) => hit.point === point).length
      expect(count, point).toBeGreaterThanOrEqual(minimum)
      expect(count, point).toBeLessThanOrEqual(minimum + 2)
    }
  })
})
