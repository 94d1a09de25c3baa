import type { Caller } from '../calls/calls.js'
import type { JsonObject } from '../json/json.js'

/**
 * A tool that the client of a conversation brings, as data. No worker runs it: the call waits until the client sends
 * its result, which is a text.
 */
export interface ClientTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly inputSchema: JsonObject
  readonly inputExamples?: readonly JsonObject[]
  readonly allowedCallers: readonly Caller[]
}

/** Milliseconds that a call waits for its result. */
export const clientCallExpiresMs = 7 * 24 * 60 * 60 * 1_000

/** The bounds of the client tools of a conversation. `schemaParts`: of all schemas, with their references replaced. */
export const clientToolLimits = { count: 100, bytes: 256 * 1_024, schemaParts: 10_000 } as const
