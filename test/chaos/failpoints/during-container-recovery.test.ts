import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { noFaults } from '../support/fault-plan.js'

/** The container dies in the second cell; it is the third that is made (the second, when somebody had approved). */
const rebuilding = [
  ['open.begins', 3],
  ['container.created', 3],
  ['container.started', 3],
  ['open.ends', 3],
  ['step.repeated', 8],
  ['step.repeated', 12],
] as const

describeDocker('kill -9 of the worker that makes up for a dead container', () => {
  it.each(rebuilding)('at %s, pass %i', (point, hit) =>
    expectSurvives({
      ...noFaults,
      crashes: [{ point, hit }],
      disturbances: [{ kind: 'kill-container', afterRequests: 6, delayMs: 0, forMs: 0 }],
    }),
  )
})

describeDocker('kill -9 of every worker that makes up for a dead container', () => {
  it('four in a row: the cell is none the worse for it', () =>
    expectSurvives({
      ...noFaults,
      crashes: [8, 1, 2, 1].map((hit) => ({ point: 'step.repeated', hit })),
      disturbances: [{ kind: 'kill-container', afterRequests: 6, delayMs: 0, forMs: 0 }],
    }))
})
