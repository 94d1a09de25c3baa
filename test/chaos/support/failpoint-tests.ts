import { it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from './chaos-run.js'
import { crashAt } from './fault-plan.js'

/**
 * The minimum number of hits of each failpoint in the scenario without faults: all of them but one or two, because the
 * number of steps for parallel results may differ between runs. `no-faults.test.ts` asserts this. 0: the failpoint is
 * hit only after another fault, or not by this scenario.
 */
export const minimumHits: Readonly<Record<Failpoint, number>> = {
  'config.loaded': 1,
  'model.begins': 4,
  'model.replied': 4,
  'turn.stored': 4,
  'messages.summarized': 0,
  'messages.compacted': 0,
  'session.started': 0,
  'open.begins': 2,
  'container.created': 2,
  'container.started': 2,
  'open.ends': 2,
  'step.begins': 26,
  'sandbox.attached': 0,
  'step.repeated': 10,
  'frame.sent': 39,
  'step.result': 35,
  'step.ends': 25,
  'tool.begins': 23,
  'tool.ran': 22,
  'tool.ends': 17,
  'approval.requested': 1,
  'compensation.begins': 0,
  'compensation.ran': 0,
  'journal.begins': 2,
  'journal.stored': 2,
  'value.written': 9,
  'value.published': 9,
  'snapshot.begins': 0,
  'snapshot.stored': 0,
  'snapshot.restored': 0,
  'close.begins': 2,
  'close.ends': 2,
}

/** Rows of the fault matrix in docs/durability.md. */
const faultMatrixRows: { readonly [Point in Failpoint]?: string } = {
  'model.begins': 'F01: before the model request',
  'model.replied': 'F02: after the model reply',
  'container.created': 'F03: after the container is created, before the result is recorded',
  'frame.sent': 'F04: while code runs',
  'step.result': 'F05: after the code made calls, before they are scheduled',
  'tool.ran': 'F06: after the effect, before the result is recorded',
  'step.begins': 'F07: after the result is recorded, before the code has it',
  'step.ends': 'F08: after the cell has ended, before its result is recorded',
}

/** Declares a test for each hit of each of these failpoints, at which a worker is killed. */
export function describeFailpoints(points: readonly Failpoint[]): void {
  for (const point of points) describeFailpointHits(point, 1, minimumHits[point])
}

/** Declares a test for some hits of a failpoint, for failpoints with too many hits for one file. */
export function describeFailpointHits(point: Failpoint, first: number, last: number): void {
  const times = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  describeDocker(
    `kill -9 at ${point}${faultMatrixRows[point] === undefined ? '' : ` (${faultMatrixRows[point]})`}`,
    () => {
      it.each(times)('hit %i', (time) => expectSurvives(crashAt(point, time)))
    },
  )
}
