import { it } from 'vitest'
import { describeDocker } from '../support/docker.js'
import { survives } from './support/chaos-run.js'
import { crashAt, nothing } from './support/plan.js'

describeDocker('the scenario that everything is thrown at', () => {
  it('comes to its end when nothing happens', () => survives(nothing))

  // `npm run test:chaos` has every point.
  it.each([
    ['model.replied', 2],
    ['tool.ran', 4],
  ] as const)('survives kill -9 at %s, the %i. time it comes there', (point, time) => survives(crashAt(point, time)))
})
