import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { runScenario } from '../support/chaos-run.js'
import { noFaults } from '../support/fault-plan.js'
import { calls } from '../support/scenarios/calls.js'

describeDocker('the scenario of the chaos tests', () => {
  it('the scenario completes without faults, and passes no failpoint much more often than planned', async () => {
    // A slow machine must park the session only where the scenario waits for it: each parking repeats all steps.
    const scenario = calls({ parkSeconds: 10 })
    const hits = await runScenario({ ...noFaults, scenario })
    for (const [point, minimum] of Object.entries(scenario.minimumHits)) {
      const count = hits.filter((hit) => hit.point === point).length
      expect(count, point).toBeGreaterThanOrEqual(minimum)
      expect(count, point).toBeLessThanOrEqual(minimum + 2)
    }
  })
})
