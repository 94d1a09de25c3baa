import type { z } from 'zod'
import type { Caller, Effect } from '../common/calls.js'
import type { JsonObject } from '../common/json.js'
import type { Duration } from './duration.js'

/** Where a tool writes for its operator; goes to the worker's log, never to the model. */
export interface ToolLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** What a tool gets beside its input. */
export interface ToolContext {
  /** Aborted when the call is cancelled or its time is over. */
  readonly signal: AbortSignal
  /** The call's one identity: the same in every attempt, after a crash and after a rebuild. Hand it to whoever must not do a thing twice. */
  readonly idempotencyKey: string
  /** Says that a long call is alive. `details` (JSON) are kept for the next attempt; without any, the earlier ones are. */
  readonly heartbeat: (details?: unknown) => void
  /** What an earlier attempt last gave to `heartbeat`, as JSON; undefined when none gave any, as in the first attempt. */
  readonly heartbeatDetails?: unknown
  readonly log: ToolLog
  readonly caller: Caller
  /** From 1. */
  readonly attempt: number
}

/** What {@link defineTool} is given. */
export interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodType> {
  /** A Python and JavaScript identifier of at most 64 characters; also the activity's name in the Temporal UI. */
  readonly name: string
  /** For the model: what the tool does and what it returns. */
  readonly description: string
  /** Arguments. One the schema does not name is refused, unless the schema is a `z.looseObject`. */
  readonly input: Input
  /** What the caller gets, after the schema's own transforms; must be JSON then. */
  readonly output: Output
  /** Default: both. Checked at every call, not only left out of the prompt. */
  readonly allowedCallers?: readonly Caller[]
  /** What the tool does to the world: decides what happens when a call was interrupted. */
  readonly effect: Effect
  /** Of one attempt: `'30s'`, `'2m'`, or milliseconds. Default 60 seconds. */
  readonly timeout?: Duration
  /**
   * Attempts in all when the tool throws: 3 by default, and always 1 for `effect: 'once'`, whose outcome is then unknown unless it threw a
   * ToolError, which says that nothing happened.
   */
  readonly retry?: { readonly attempts: number }
  /** One line for people, shown in the Temporal UI: `get_expenses ENG001 Q3`. */
  readonly summary?: (input: z.output<Input>) => string
  /** Realistic calls, shown to the model. */
  readonly inputExamples?: readonly z.input<Input>[]
  run(input: z.output<Input>, context: ToolContext): z.input<Output> | Promise<z.input<Output>>
}

/** A checked tool, made by {@link defineTool}. Immutable. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly description: string
  readonly input: Input
  readonly output: Output
  /** The schemas as JSON Schema (2020-12): what a caller sends, and what it gets. */
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject
  readonly allowedCallers: readonly Caller[]
  readonly effect: Effect
  /** Milliseconds one attempt may take. */
  readonly timeoutMs: number
  readonly attempts: number
  readonly inputExamples: readonly JsonObject[]
  /** The definition's `summary`, as given: may throw. */
  summarize?(input: z.output<Input>): string
  run(input: z.output<Input>, context: ToolContext): z.input<Output> | Promise<z.input<Output>>
}

const marker: unique symbol = Symbol.for('durable-ptc.tool')

/** Freezes a tool and marks it, so that {@link isTool} knows it in every copy of this package. */
export function sealTool<T extends Tool>(tool: T): T {
  return Object.freeze(Object.defineProperty(tool, marker, { value: true }))
}

export function isTool(value: unknown): value is Tool {
  return typeof value === 'object' && value !== null && marker in value
}
