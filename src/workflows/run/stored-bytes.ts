import type { StoredFile } from '../../common/files/files.js'
import type { ExecuteStepResult } from '../../common/session/steps.js'
import { utf8Length } from '../../common/text/text.js'
import { refOf } from '../../common/json/external-value.js'
import type { AppendToLog } from '../temporal/activities.js'
import type { Run } from './run.js'

/**
 * The payload codec stores payloads from 256 KiB on in the value store. JSON from this size on counts as part of such a
 * payload.
 */
const storedPayloadBytes = 250_000

/** Returns the bytes that the payload itself puts into the value store. Values to which it refers do not count. */
export function payloadBytes(payload: unknown): number {
  const bytes = utf8Length(JSON.stringify(payload))
  return bytes < storedPayloadBytes ? 0 : bytes
}

/** Returns the bytes of the external arguments and the external output of a step's result. */
export function externalBytes(result: ExecuteStepResult): number {
  const calls = result.type === 'suspended' ? result.calls.map((call) => call.arguments) : []
  const values = 'output' in result ? [...calls, result.output] : calls
  return values.reduce<number>((sum, value) => sum + (refOf(value)?.bytes ?? 0), 0)
}

export function bytesOfFiles(files: readonly StoredFile[]): number {
  const parts = files.flatMap((file) => file.parts)
  return parts.reduce((sum, part) => sum + (refOf(part)?.bytes ?? 0), 0)
}

/** Counts the bytes that are appended to a log: the steps as a payload, and the new segments. */
export function countStoredBytes(run: Pick<Run, 'addStoredBytes'>, append: AppendToLog): AppendToLog {
  return async (log, batches) => {
    run.addStoredBytes(payloadBytes(batches))
    const logs = await append(log, batches)
    for (const { head } of logs) run.addStoredBytes(head.bytes)
    return logs
  }
}
