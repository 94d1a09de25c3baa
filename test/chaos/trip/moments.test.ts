import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { noFaults } from '../support/fault-plan.js'
import { trip } from '../support/scenarios/trip.js'

describeDocker('a trip', () => {
  it.each(['approval', 'pause', 'compensation'] as const)(
    'a trip survives kill -9 of its worker during the %s',
    (moment) => expectSurvives({ ...noFaults, scenario: trip(), killsWorkerDuring: moment }),
  )

  it('a trip compensates each call once when workers die twice at the same compensation', () =>
    expectSurvives({
      ...noFaults,
      scenario: trip(),
      crashes: [
        { point: 'compensation.ran', hit: 2 },
        { point: 'compensation.ran', hit: 1 },
      ],
    }))
})
