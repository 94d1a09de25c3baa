import { z } from 'zod'
import type { Payload } from './event.js'

const messageType = 'temporal.api.sdk.v1.ExternalStorageReference'
const reference = z.object({ driverName: z.string(), claimData: z.record(z.string(), z.string()) })

/** Returns the reference that replaces an externally stored payload in the history; undefined for any other payload. */
export function storageReference({ metadata, data }: Payload): z.output<typeof reference> | undefined {
  if (Buffer.from(metadata?.['messageType'] ?? []).toString() !== messageType) return undefined
  return reference.parse(JSON.parse(Buffer.from(data ?? []).toString()))
}
