import { z } from 'zod'
import type { SnapshotConfig } from '../../common/run/run-config.js'
import { durationOption } from '../../platform/option-schemas.js'

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

/** Seconds of sandbox time that one snapshot may take. */
const snapshotSeconds = 5

type SnapshotsOption = Exclude<z.output<typeof snapshotsOption>, false>

export function snapshotConfig({ steps: everySteps, time, bytes: maxBytes }: SnapshotsOption): SnapshotConfig {
  return { everySteps, everyMs: time, maxBytes, timeoutSeconds: snapshotSeconds }
}
