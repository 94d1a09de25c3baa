import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../../chaos/support/chaos-run.js'
import { crashAt } from '../../chaos/support/fault-plan.js'

// `npm run test:chaos` covers all failpoints, and the scenario without faults.
describeDocker('the scenario of the chaos tests', () => {
  it('the scenario survives kill -9 at tool.ran, hit 4', () => expectSurvives(crashAt('tool.ran', 4)))
})
