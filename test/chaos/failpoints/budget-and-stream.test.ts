import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { crashAt, noFaults } from '../support/fault-plan.js'

// In each run the worker is also killed while the run is paused.
describeDocker('a run whose budget pauses it while its live stream is read', () => {
  it('ends without other faults', () => expectSurvives({ ...noFaults, hasBudgetAndStream: true }))

  it.each([
    ['model.replied', 1],
    ['turn.stored', 2],
    ['tool.ran', 5],
    ['step.result', 12],
    ['journal.stored', 1],
  ] as const)('survives kill -9 at %s, hit %i', (point, hit) =>
    expectSurvives({ ...crashAt(point, hit), hasBudgetAndStream: true }),
  )
})
