import { it } from 'vitest'
import type { CrashPoint } from '../../../src/common/crash-point.js'
import { describeDocker } from '../../support/docker.js'
import { survives } from '../support/chaos-run.js'
import { nothing } from '../support/plan.js'
import type { Crash } from '../support/workers.js'

/** What a worker comes to that takes over the approval in the second cell, for which the sandbox was parked. */
const takingOverCall: readonly CrashPoint[] = [
  'tool.begins',
  'tool.ran',
  'tool.ends',
  'open.begins',
  'container.created',
  'container.started',
  'step.repeated',
  'model.begins',
  'model.replied',
  'model.kept',
  'value.written',
  'value.published',
  'close.begins',
  'close.ends',
]

/** What a worker comes to that takes over a step there: the sandbox lives. */
const takingOverStep: readonly CrashPoint[] = [
  'advance.begins',
  'sandbox.attached',
  'frame.sent',
  'step.answered',
  'advance.ends',
]

describeDocker('kill -9 of the worker that took over from a dead one', () => {
  const took = (first: Crash, point: CrashPoint) => survives({ ...nothing, crashes: [first, { point, time: 1 }] })

  it.each(takingOverCall)('a call, at %s', (point) => took({ point: 'tool.ran', time: 5 }, point))

  it.each(takingOverStep)('a step, at %s', (point) => took({ point: 'advance.ends', time: 9 }, point))
})
