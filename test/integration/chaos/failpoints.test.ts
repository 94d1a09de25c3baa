import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../../chaos/support/chaos-run.js'
import { crashAt, noFaults } from '../../chaos/support/fault-plan.js'

describeDocker('the scenario of the chaos tests', () => {
  it('completes without faults', () => expectSurvives(noFaults))

  // `npm run test:chaos` has all failpoints.
  it.each([
    ['model.replied', 2],
    ['tool.ran', 4],
  ] as const)('survives kill -9 at %s, hit %i', (point, time) => expectSurvives(crashAt(point, time)))
})
