import { it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from './chaos-run.js'
import { crashAt } from './fault-plan.js'

/**
 * How often the scenario comes to each point at least (how many steps parallel results make is not the same in every run). 0: it
 * comes there after another fault only.
 */
export const minimumHits: Readonly<Record<Failpoint, number>> = {
  'config.loaded': 1,
  'model.begins': 4,
  'model.replied': 4,
  'turn.stored': 4,
  'open.begins': 2,
  'container.created': 2,
  'container.started': 2,
  'open.ends': 2,
  'step.begins': 14,
  'sandbox.attached': 0,
  'step.repeated': 6,
  'frame.sent': 22,
  'step.result': 20,
  'step.ends': 13,
  'tool.begins': 13,
  'tool.ran': 12,
  'tool.ends': 12,
  'journal.begins': 1,
  'journal.stored': 1,
  'value.written': 6,
  'value.published': 6,
  'snapshot.begins': 0,
  'snapshot.stored': 0,
  'snapshot.restored': 0,
  'close.begins': 2,
  'close.ends': 2,
}

/** Rows of the fault matrix in docs/durability.md. */
const faultMatrixRows: { readonly [Point in Failpoint]?: string } = {
  'model.begins': 'F01: before the model is asked',
  'model.replied': 'F02: after the reply of the model',
  'container.created': 'F03: a container is made and nobody knows of it',
  'frame.sent': 'F04: the code runs',
  'step.result': 'F05: calls are made and not scheduled',
  'tool.ran': 'F06: the effect has happened and nobody knows of it',
  'step.begins': 'F07: the result is recorded and the code does not have it',
  'step.ends': 'F08: the cell has ended and nobody knows of it',
}

/** A worker dies at each of these points, each time the scenario comes there: a test for each. */
export function describeFailpoints(points: readonly Failpoint[]): void {
  for (const point of points) describeFailpointHits(point, 1, minimumHits[point])
}

/** A worker dies at this point, in a test for each of these passes: for points with too many passes for one file. */
export function describeFailpointHits(point: Failpoint, first: number, last: number): void {
  const times = Array.from({ length: last - first + 1 }, (_, place) => first + place)
  describeDocker(
    `kill -9 at ${point}${faultMatrixRows[point] === undefined ? '' : ` (${faultMatrixRows[point]})`}`,
    () => {
      it.each(times)('pass %i', (time) => expectSurvives(crashAt(point, time)))
    },
  )
}
