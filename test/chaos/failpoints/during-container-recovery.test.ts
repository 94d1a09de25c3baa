import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { noFaults } from '../support/fault-plan.js'

/**
 * The second container was created after the approval: 11 steps were repeated in it. It dies in the second cell, and
 * the third one repeats 14 steps.
 */
const rebuilding = [
  ['open.begins', 3],
  ['container.created', 3],
  ['container.started', 3],
  ['open.ends', 3],
  ['step.repeated', 13],
  ['step.repeated', 24],
] as const

describeDocker('kill -9 of the worker that rebuilds after a dead container', () => {
  it.each(rebuilding)('a rebuild after a dead container survives kill -9 of its worker at %s, pass %i', (point, hit) =>
    expectSurvives({
      ...noFaults,
      crashes: [{ point, hit }],
      disturbances: [{ kind: 'kill-container', afterRequests: 6, delayMs: 0, forMs: 0 }],
    }),
  )
})

describeDocker('kill -9 of every worker that rebuilds after a dead container', () => {
  it('a rebuild completes the cell after four kills of its worker in a row', () =>
    expectSurvives({
      ...noFaults,
      crashes: [13, 1, 2, 1].map((hit) => ({ point: 'step.repeated', hit })),
      disturbances: [{ kind: 'kill-container', afterRequests: 6, delayMs: 0, forMs: 0 }],
    }))
})
