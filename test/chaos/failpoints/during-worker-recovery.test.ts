import { it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from '../support/chaos-run.js'
import { noFaults } from '../support/fault-plan.js'
import type { Crash } from '../support/failpoint-crashes.js'

/** The hits before it are `charge` (3), `fetch_text` and the local calls of `double` (5). */
const hitOfApproval = 10

/** The hit is one of the local calls before the approval: the sandbox of the first cell runs. */
const hitOfLocalCall = 9

/** Failpoints of a worker that takes over the approval in the second cell, for which the sandbox was parked. */
const takingOverCall: readonly Failpoint[] = [
  'tool.begins',
  'tool.ran',
  'tool.ends',
  'open.begins',
  'container.created',
  'container.started',
  'step.repeated',
  'model.begins',
  'model.replied',
  'turn.stored',
  'value.written',
  'value.published',
  'close.begins',
  'close.ends',
]

/** Failpoints of a worker that takes over a step while the sandbox runs. */
const takingOverStep: readonly Failpoint[] = [
  'step.begins',
  'sandbox.attached',
  'frame.sent',
  'step.result',
  'step.ends',
]

describeDocker('kill -9 of the worker that took over from a dead one', () => {
  const took = (first: Crash, point: Failpoint) => expectSurvives({ ...noFaults, crashes: [first, { point, hit: 1 }] })

  it.each(takingOverCall)('the run survives kill -9 of the second worker during a call, at %s', (point) =>
    took({ point: 'tool.ran', hit: hitOfApproval }, point),
  )

  it.each(takingOverStep)('the run survives kill -9 of the second worker during a step, at %s', (point) =>
    took({ point: 'step.ends', hit: hitOfLocalCall }, point),
  )
})
