import { z } from 'zod'
import type { SnapshotPlan } from '../../common/snapshots.js'
import { durationOption } from './duration-option.js'

/** When the state of a session is kept; `false`: never. */
export const snapshotsOption = z
  .union([
    z.literal(false),
    z.strictObject({
      steps: z.int().min(1).default(50),
      time: durationOption('20s'),
      bytes: z
        .int()
        .min(1_024, 'an empty program has some; at least 1,024')
        .max(512 * 1024 * 1024, 'at most 512 MiB')
        .default(32 * 1024 * 1024),
    }),
  ])
  .prefault({})

/** Seconds of the sandbox's time for one snapshot. */
const seconds = 5

type Snapshots = Exclude<z.output<typeof snapshotsOption>, false>

export function snapshotPlan({ steps, time, bytes }: Snapshots): SnapshotPlan {
  return { steps, ms: time, bytes, seconds }
}
