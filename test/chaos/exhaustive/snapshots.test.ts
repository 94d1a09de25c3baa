import { it } from 'vitest'
import { describeDocker } from '../../support/docker.js'
import { survives } from '../support/chaos-run.js'
import { nothing, type Plan } from '../support/plan.js'

/** With a snapshot after the first cell, and one after the second. */
const withSnapshots: Plan = { ...nothing, snapshotSteps: 3 }

/** It is read when somebody has approved, and again when the container of the second cell has died. */
const points = [
  ['snapshot.begins', 1],
  ['snapshot.kept', 1],
  ['snapshot.restored', 1],
  ['step.repeated', 1],
  ['snapshot.begins', 2],
  ['snapshot.kept', 2],
] as const

describeDocker('kill -9 of a worker that keeps the state of a session, or brings it back', () => {
  it('is not needed for the scenario to come to its end', () => survives(withSnapshots))

  it.each(points)('at %s, pass %i', (point, time) => survives({ ...withSnapshots, crashes: [{ point, time }] }))

  it('under a sandbox that is made again of a snapshot', () =>
    survives({
      ...withSnapshots,
      crashes: [{ point: 'snapshot.restored', time: 2 }],
      disturbances: [{ what: 'kill-container', afterAsks: 6, delayMs: 0, forMs: 0 }],
    }))
})
