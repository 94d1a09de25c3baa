import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../../chaos/support/chaos-run.js'
import { crashAt, noFaults } from '../../chaos/support/fault-plan.js'

describeDocker('the scenario that everything is thrown at', () => {
  it('comes to its end when nothing happens', () => expectSurvives(noFaults))

  // `npm run test:chaos` has every point.
  it.each([
    ['model.replied', 2],
    ['tool.ran', 4],
  ] as const)('survives kill -9 at %s, the %i. time it comes there', (point, time) =>
    expectSurvives(crashAt(point, time)),
  )
})
