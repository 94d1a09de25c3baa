import { it } from 'vitest'
import type { CrashPoint } from '../../../src/common/crash-point.js'
import { describeDocker } from '../../support/docker.js'
import { survives } from '../support/chaos-run.js'
import { nothing } from '../support/plan.js'

/** All that a worker comes to that takes over in the middle of the second cell. */
const takingOver: readonly CrashPoint[] = [
  'tool.begins',
  'tool.ran',
  'tool.ends',
  'advance.begins',
  'sandbox.attached',
  'frame.sent',
  'step.answered',
  'advance.ends',
  'model.begins',
  'model.replied',
  'model.kept',
  'value.written',
  'value.published',
  'close.begins',
  'close.ends',
]

describeDocker('kill -9 of the worker that took over from a dead one', () => {
  it.each(takingOver)('at %s', (point) =>
    survives({
      ...nothing,
      crashes: [
        { point: 'tool.ran', time: 7 },
        { point, time: 1 },
      ],
    }),
  )
})

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
  it.each(rebuilding)('at %s, pass %i', (point, time) =>
    survives({
      ...nothing,
      crashes: [{ point, time }],
      disturbances: [{ what: 'kill-container', afterAsks: 6, delayMs: 0, forMs: 0 }],
    }),
  )
})
