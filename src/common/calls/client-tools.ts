import type { Caller } from './calls.js'
import type { JsonObject } from '../json/json.js'

/**
 * A tool that the client of a conversation defines as data. No worker runs it: a call waits until the client sends its
 * result, which is a text.
 */
export interface ClientTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, which are an object. */
  readonly inputSchema: JsonObject
  readonly inputExamples?: readonly JsonObject[]
  readonly allowedCallers: readonly Caller[]
}

/** Milliseconds that a call waits for its result. */
export const clientCallExpiresMs = 7 * 24 * 60 * 60 * 1_000

/**
 * The limits of the client tools of a conversation. `schemaParts` limits all schemas together, with their references
 * replaced. `examples` limits one tool.
 */
export const clientToolLimits = { count: 100, bytes: 256 * 1_024, schemaParts: 10_000, examples: 100 } as const
