import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { noFaults, type FaultPlan } from '../support/fault-plan.js'
import { calls } from '../support/scenarios/calls.js'

/** The plan with a snapshot after the first cell, and one after the second. */
const withSnapshots: FaultPlan = { ...noFaults, scenario: calls({ snapshotSteps: 3 }) }

/** The snapshot is read after the approval, and again after the container of the second cell has died. */
const points = [
  ['snapshot.begins', 1],
  ['snapshot.stored', 1],
  ['snapshot.restored', 1],
  ['step.repeated', 1],
  ['snapshot.begins', 2],
  ['snapshot.stored', 2],
] as const

describeDocker('kill -9 of a worker that saves or restores a snapshot', () => {
  it('the scenario with snapshots completes without faults', () => expectSurvives(withSnapshots))

  it.each(points)('the scenario with snapshots survives kill -9 at %s, pass %i', (point, hit) =>
    expectSurvives({ ...withSnapshots, crashes: [{ point, hit }] }),
  )

  it('the scenario survives kill -9 while a sandbox is restored from a snapshot', () =>
    expectSurvives({
      ...withSnapshots,
      crashes: [{ point: 'snapshot.restored', hit: 2 }],
      disturbances: [{ kind: 'kill-container', afterRequests: 6, delayMs: 0, forMs: 0 }],
    }))
})
