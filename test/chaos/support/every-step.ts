import { it } from 'vitest'
import type { CrashPoint } from '../../../src/common/crash-point.js'
import { describeDocker } from '../../support/docker.js'
import { survives } from './chaos-run.js'
import { crashAt } from './plan.js'

/**
 * How often the scenario comes to each point at least (how many steps parallel results make is not the same in every run). 0: it
 * comes there after another fault only.
 */
export const passes: Readonly<Record<CrashPoint, number>> = {
  'plan.read': 1,
  'model.begins': 4,
  'model.replied': 4,
  'model.kept': 4,
  'open.begins': 2,
  'container.created': 2,
  'container.started': 2,
  'open.ends': 2,
  'advance.begins': 14,
  'sandbox.attached': 0,
  'step.repeated': 6,
  'frame.sent': 22,
  'step.answered': 20,
  'advance.ends': 13,
  'tool.begins': 13,
  'tool.ran': 12,
  'tool.ends': 12,
  'journal.begins': 1,
  'journal.kept': 1,
  'value.written': 6,
  'value.published': 6,
  'snapshot.begins': 0,
  'snapshot.kept': 0,
  'snapshot.restored': 0,
  'close.begins': 2,
  'close.ends': 2,
}

/** Rows of the fault matrix in docs/durability.md. */
const rows: { readonly [Point in CrashPoint]?: string } = {
  'model.begins': 'F01: before the model is asked',
  'model.replied': 'F02: after the reply of the model',
  'container.created': 'F03: a container is made and nobody knows of it',
  'frame.sent': 'F04: the code runs',
  'step.answered': 'F05: calls are made and not scheduled',
  'tool.ran': 'F06: the effect has happened and nobody knows of it',
  'advance.begins': 'F07: the result is recorded and the code does not have it',
  'advance.ends': 'F08: the cell has ended and nobody knows of it',
}

/** A worker dies at each of these points, each time the scenario comes there: a test for each. */
export function describeEveryStep(points: readonly CrashPoint[]): void {
  for (const point of points) describePasses(point, 1, passes[point])
}

/** A worker dies at this point, in a test for each of these passes: for points with too many passes for one file. */
export function describePasses(point: CrashPoint, first: number, last: number): void {
  const times = Array.from({ length: last - first + 1 }, (_, place) => first + place)
  describeDocker(`kill -9 at ${point}${rows[point] === undefined ? '' : ` (${rows[point]})`}`, () => {
    it.each(times)('pass %i', (time) => survives(crashAt(point, time)))
  })
}
