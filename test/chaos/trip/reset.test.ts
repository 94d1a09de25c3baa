import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { crashAt, noFaults } from '../support/fault-plan.js'
import { trip } from '../support/scenarios/trip.js'

describeDocker('a trip that is reset while its last cell waits', () => {
  it('F31: a trip that is reset to before a call repeats no effect', () =>
    expectSurvives({ ...noFaults, scenario: trip({ resetTo: 'insure' }) }))

  it('F31: a trip that is reset to before its sub-agent and the approval repeats no effect', () =>
    expectSurvives({ ...noFaults, scenario: trip({ resetTo: 'tool.approval' }) }))

  it.each([
    ['messages.compacted', 2],
    ['compensation.ran', 3],
  ] as const)('a trip that is reset survives kill -9 at %s, hit %i', (point, hit) =>
    expectSurvives({ ...crashAt(point, hit), scenario: trip({ resetTo: 'insure' }) }),
  )
})
