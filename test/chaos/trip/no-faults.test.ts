import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { runScenario } from '../support/chaos-run.js'
import { noFaults } from '../support/fault-plan.js'
import { trip } from '../support/scenarios/trip.js'

describeDocker('the scenario of a trip', () => {
  it('the scenario of a trip completes without faults, and passes each failpoint as often as planned', async () => {
    const scenario = trip()
    const hits = await runScenario({ ...noFaults, scenario })
    for (const [point, minimum] of Object.entries(scenario.minimumHits)) {
      expect(hits.filter((hit) => hit.point === point).length, point).toBeGreaterThanOrEqual(minimum)
    }
  })
})
