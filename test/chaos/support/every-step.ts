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
  'close.begins': 2,
  'close.ends': 2,
}

/** A worker dies at each of these points, each time the scenario comes there: a test for each. */
export function describeEveryStep(points: readonly CrashPoint[]): void {
  describeDocker.each(points)('kill -9 at %s', (point) => {
    const times = Array.from({ length: passes[point] }, (_, place) => place + 1)
    it.each(times)('the time it comes there for the %i. time', (time) => survives(crashAt(point, time)))
  })
}
