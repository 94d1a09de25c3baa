import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { noFaults, type FaultPlan } from '../support/fault-plan.js'

/** With a snapshot after the first cell, and one after the second. */
const withSnapshots: FaultPlan = { ...noFaults, snapshotSteps: 3 }

/** It is read when somebody has approved, and again when the container of the second cell has died. */
const points = [
  ['snapshot.begins', 1],
  ['snapshot.stored', 1],
  ['snapshot.restored', 1],
  ['step.repeated', 1],
  ['snapshot.begins', 2],
  ['snapshot.stored', 2],
] as const

describeDocker('kill -9 of a worker that keeps the state of a session, or brings it back', () => {
  it('is not needed for the scenario to come to its end', () => expectSurvives(withSnapshots))

  it.each(points)('at %s, pass %i', (point, hit) => expectSurvives({ ...withSnapshots, crashes: [{ point, hit }] }))

  it('under a sandbox that is made again of a snapshot', () =>
    expectSurvives({
      ...withSnapshots,
      crashes: [{ point: 'snapshot.restored', hit: 2 }],
      disturbances: [{ kind: 'kill-container', afterRequests: 6, delayMs: 0, forMs: 0 }],
    }))
})
