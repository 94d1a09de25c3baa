import { it } from 'vitest'
import { describeDocker } from '../support/docker.js'
import { survives } from './support/chaos-run.js'
import { crashAt, nothing } from './support/plan.js'

describeDocker('the scenario that everything is thrown at', () => {
  it('comes to its end when nothing happens', () => survives(nothing))

  // One of each kind; `npm run test:chaos` has all of them.
  it.each([
    ['model.replied', 2],
    ['container.created', 1],
    ['step.repeated', 4],
    ['tool.ran', 4],
    ['journal.kept', 1],
  ] as const)('survives kill -9 at %s, the %i. time it comes there', (point, time) => survives(crashAt(point, time)))
})
