import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { noFaults } from '../support/fault-plan.js'

/** The third container dies in the second cell. The second container was created after the approval. */
const rebuilding = [
  ['open.begins', 3],
  ['container.created', 3],
  ['container.started', 3],
  ['open.ends', 3],
  ['step.repeated', 8],
  ['step.repeated', 12],
] as const

describeDocker('kill -9 of the worker that rebuilds after a dead container', () => {
  it.each(rebuilding)('at %s, pass %i', (point, hit) =>
    expectSurvives({
      ...noFaults,
      crashes: [{ point, hit }],
      disturbances: [{ kind: 'kill-container', afterRequests: 6, delayMs: 0, forMs: 0 }],
    }),
  )
})

describeDocker('kill -9 of every worker that rebuilds after a dead container', () => {
  it('completes the cell after four kills in a row', () =>
    expectSurvives({
      ...noFaults,
      crashes: [8, 1, 2, 1].map((hit) => ({ point: 'step.repeated', hit })),
      disturbances: [{ kind: 'kill-container', afterRequests: 6, delayMs: 0, forMs: 0 }],
    }))
})
