import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { crashAt, noFaults } from '../support/fault-plan.js'
import { trip } from '../support/scenarios/trip.js'

const scenario = trip({ continuesAsNew: true })

describeDocker('a trip that continues as new repeatedly', () => {
  it('a trip that continues as new repeatedly is compensated without faults', () =>
    expectSurvives({ ...noFaults, scenario }))

  it.each([
    ['tool.ran', 20],
    ['step.result', 30],
    ['messages.compacted', 1],
    ['compensation.ran', 3],
  ] as const)('a trip that continues as new survives kill -9 at %s, hit %i', (point, hit) =>
    expectSurvives({ ...crashAt(point, hit), scenario }),
  )

  it.each(['approval', 'pause', 'compensation'] as const)(
    'a trip that continues as new survives kill -9 during the %s',
    (killsWorkerDuring) => expectSurvives({ ...noFaults, scenario, killsWorkerDuring }),
  )
})
