import type { ExecuteStepResult } from '../common/steps.js'
import { utf8Length } from '../common/text.js'
import { refOf } from '../common/external-value.js'
import type { AppendToLog } from './session/journal.js'

/** Bytes that a run has put into the value store. They never become fewer, whatever is dropped. */
export interface StoredBytes {
  bytes: number
}

/** Temporal's own payloads are kept in the value store from 256 KiB on; JSON of this size may be one, with what is around it. */
const storedPayloadBytes = 250_000

/** Bytes that a payload itself, such as the result of an activity, puts into the value store; not those of references in it. */
export function payloadBytes(payload: unknown): number {
  const bytes = utf8Length(JSON.stringify(payload))
  return bytes < storedPayloadBytes ? 0 : bytes
}

/** Bytes of arguments and output that an answer refers to. */
export function externalBytes(answer: ExecuteStepResult): number {
  const calls = answer.type === 'suspended' ? answer.calls.map((call) => call.arguments) : []
  const held = 'output' in answer ? [...calls, answer.output] : calls
  return held.reduce<number>((sum, value) => sum + (refOf(value)?.bytes ?? 0), 0)
}

/** Counts what is appended to a chain: the steps on their way there, and the chain's new links. */
export function countStoredBytes(stored: StoredBytes, append: AppendToLog): AppendToLog {
  return async (to, lists) => {
    stored.bytes += payloadBytes(lists)
    const chains = await append(to, lists)
    for (const { head } of chains) stored.bytes += head.bytes
    return chains
  }
}
