import type { z } from 'zod'
import type { Caller, Effect, Execution } from '../common/calls/calls.js'
import type { DeferredConfig } from '../common/calls/deferred-calls.js'
import type { JsonObject } from '../common/json/json.js'
import type { RemoteTarget, RetryIntervals, ToolPriority, ToolRate } from '../common/calls/tool-config.js'
import type { Compensate, CompensatedCall } from './definition/compensate.js'
import type { ApprovalOptions, ApprovalRule, RememberRule } from './definition/approval.js'
import type { ActivityTarget, NexusTarget, WorkflowTarget } from './definition/remote-target.js'
import type { RetryDefinition } from './definition/retry.js'
import type { AsZodObject, AsZodType, JsonSchema } from './definition/schemas.js'
import type { Duration } from '../common/text/duration.js'

/** The worker's log. The model never sees it. */
export interface ToolLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** The run that a call belongs to. */
export interface CallingRun {
  readonly namespace: string
  readonly workflowId: string
  /** Run id of the current execution. It changes when the run continues as new; `workflowId` does not. */
  readonly runId: string
  /** The agent with which the run began; undefined without one, and for programs and sessions. */
  readonly agent: string | undefined
}

/** Second argument of a tool's `run`. */
export interface ToolContext {
  /** Aborted when the call is cancelled or times out. */
  readonly signal: AbortSignal
  /**
   * Identity of the call: the same in every attempt, after a crash and after a rebuild. Pass it to services that
   * deduplicate requests by such a key.
   */
  readonly idempotencyKey: string
  /**
   * Stores `details` (JSON) for the next attempt and for the Temporal UI. Without `details`, the previous details
   * remain.
   */
  readonly heartbeat: (details?: unknown) => void
  /** The last details that an earlier attempt passed to `heartbeat`, as JSON; undefined without any. */
  readonly heartbeatDetails?: unknown
  /**
   * Reports the progress of the call to people who watch the run or its live stream: `copied 3 of 10 pages`. One line,
   * cut at 200 characters. It is not recorded, and has no effect in a local tool.
   */
  readonly milestone: (text: string) => void
  readonly log: ToolLog
  /**
   * The value of a credential that the tool declares. Pass it to the other service, and keep it out of files. A marker
   * replaces it in results, errors, heartbeat details and log entries of the tool.
   *
   * @throws Error when the tool does not declare a credential of this name
   */
  readonly credential: (name: string) => string
  readonly caller: Caller
  /** Number from 1. */
  readonly attempt: number
  readonly run: CallingRun
  /** The `context` with which the run was started, such as user and tenant. `{}` for a run without one. */
  readonly context: JsonObject
}

/** Second argument of a deferred tool's `run`. */
export interface DeferredToolContext extends ToolContext {
  /**
   * Completes this call: `ptc.completeCall(token, value)`, `ptc answer TOKEN --result JSON`. The same in every attempt.
   * Its holder can complete this call, and no other.
   */
  readonly completionToken: string
}

/**
 * Callers of a tool. The values with a date are those of `allowed_callers` in the Messages API, with the same meaning.
 */
export type AllowedCaller = Caller | 'code_execution_20250825' | 'code_execution_20260120' | 'code_execution_20260521'

/** Properties of all tool definitions. */
export interface ToolDeclaration<Input extends z.ZodObject | JsonSchema, Output extends z.ZodType | JsonSchema> {
  /**
   * At most 64 letters, digits and `_ . / -`; also the activity's name in the Temporal UI. When the name is not a
   * Python identifier, or is that of a builtin, code calls the tool by another name, which the prompt tells.
   */
  readonly name: string
  /** For the model: the purpose of the tool and its result. */
  readonly description: string
  /**
   * Schema of the arguments: zod, or JSON Schema. Unknown arguments are refused, unless the schema is a `z.looseObject`
   * or has `additionalProperties`. Defaults of zod apply where the tool runs; those of a JSON Schema are documentation.
   */
  readonly input: Input
  /** Schema of the result: zod, or JSON Schema. Its transforms apply first; the transformed result must be JSON. */
  readonly output: Output
  /**
   * Callers that may call the tool: `direct` is the model by a tool use, `code_execution` its code. Enforced at every
   * call. The prompt documents the tool for these callers. Default: both may call it, and the prompt documents it only
   * for code.
   */
  readonly allowedCallers?: readonly AllowedCaller[]
  /** Kind of the tool's effect. It decides how an interrupted call continues. */
  readonly effect: Effect
  /** Timeout of one attempt: `'30s'`, `'2m'`, or milliseconds. Default 60 seconds. */
  readonly timeout?: Duration
  /**
   * Retry policy of a tool that throws. A tool with `effect: 'once'` has one attempt. If such a tool throws, its
   * outcome is unknown, unless it throws a ToolError, which means that the call had no effect.
   */
  readonly retry?: RetryDefinition
  /**
   * Maximum number of concurrent calls, over all runs and workers, from 1 to 1,000. A call over the limit waits without
   * using a worker slot. Default: no limit. docs/guides/tools.md says how such a call waits.
   */
  readonly concurrency?: number
  /**
   * Temporal's priority of a call among those that wait in the same task queue. `fairnessKey: { context: 'tenant' }`
   * takes the key from the run's context.
   */
  readonly priority?: ToolPriority
  /**
   * Calls that need the approval of a person before they start: `'never'` (default), `'always'`, or a function of the
   * input and the calling run. `{ rule, remember }` also sets the scope of an approval that is remembered.
   * docs/guides/approvals.md says how a call is approved.
   */
  readonly approval?:
    | 'never'
    | 'always'
    | ApprovalRule<z.output<AsZodObject<Input>>>
    | ApprovalOptions<z.output<AsZodObject<Input>>>
  /** One line for the Temporal UI: `get_expenses ENG001 Q3`. */
  readonly summary?: (input: z.output<AsZodObject<Input>>) => string
  /** Realistic inputs, shown to the model. */
  readonly inputExamples?: readonly z.input<AsZodObject<Input>>[]
}

/** Argument of {@link defineTool}: a tool that a worker of durable-ptc runs. */
export interface ToolDefinition<
  Input extends z.ZodObject | JsonSchema,
  Output extends z.ZodType | JsonSchema,
> extends ToolDeclaration<Input, Output> {
  /**
   * `'local'`, only for `effect: 'read'`: for look-ups of a few milliseconds. When the worker of the sandbox has the
   * tool, a call costs a fraction of an activity, and is read again if that worker dies within about half a second. A
   * call that takes longer, or fails, is repeated as an activity. Default `'activity'`.
   */
  readonly execution?: Execution
  /** A task queue for the calls of this tool. Workers with role `tools` that have the tool poll it. */
  readonly taskQueue?: string
  /** Maximum calls per second over all runs and workers. The tool gets its own task queue. */
  readonly rate?: ToolRate
  /**
   * Names of the credentials that `run` needs. The option `credentials` of the configuration has the source of each,
   * and `run` gets it by `context.credential(name)`.
   */
  readonly credentials?: readonly string[]
  readonly deferred?: undefined
  /**
   * Undoes the effect of a call. A run whose work fails, is cancelled or ends unfinished compensates its calls, the
   * last one first. Like `run` it may be called again with the same idempotency key, and also when the call had no
   * effect.
   */
  compensate?(
    call: CompensatedCall<z.output<AsZodObject<Input>>, z.output<AsZodType<Output>>>,
    context: ToolContext,
  ): void | Promise<void>
  run(
    input: z.output<AsZodObject<Input>>,
    context: ToolContext,
  ): z.input<AsZodType<Output>> | Promise<z.input<AsZodType<Output>>>
}

/** Argument of {@link defineTool}: a tool whose result comes later. */
export interface DeferredToolDefinition<
  Input extends z.ZodObject | JsonSchema,
  Output extends z.ZodType | JsonSchema,
> extends Omit<ToolDefinition<Input, Output>, 'run' | 'execution' | 'deferred' | 'compensate'> {
  /**
   * The result comes later, from outside. `expires` is the time from the end of `run` to the expiry of the call:
   * `'3d'`, `'2h'`, or milliseconds; at most 366 days.
   */
  readonly deferred: { readonly expires: Duration }
  /** Starts the work outside of the engine. The return value is ignored. */
  run(input: z.output<AsZodObject<Input>>, context: DeferredToolContext): void | Promise<void>
}

/** Argument of {@link defineTool}: a remote tool, whose calls another worker executes. */
export type RemoteToolDefinition<
  Input extends z.ZodObject | JsonSchema,
  Output extends z.ZodType | JsonSchema,
  Target extends RemoteToolTarget = RemoteToolTarget,
> = ToolDeclaration<Input, Output> & Target

type RemoteToolTarget =
  | { readonly activity: ActivityTarget }
  | { readonly workflow: WorkflowTarget }
  | { readonly nexus: NexusTarget }

/** A checked tool, from {@link defineTool}. Immutable. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly description: string
  readonly input: Input
  readonly output: Output
  /** The schemas as JSON Schema (2020-12): of the data that a caller sends, and of the data that it receives. */
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject
  /** The input is a JSON Schema: its defaults are documentation, and are not added to the arguments. */
  readonly documentsDefaults?: true
  readonly allowedCallers: readonly Caller[]
  /** The callers whose prompt documents the tool: `allowedCallers` of the definition, or code. */
  readonly offeredTo: readonly Caller[]
  readonly effect: Effect
  readonly execution: Execution
  /** Undefined for a tool that returns its result. */
  readonly deferred: DeferredConfig | undefined
  /** Maximum milliseconds of one attempt. */
  readonly timeoutMs: number
  readonly attempts: number
  readonly retry?: RetryIntervals
  readonly taskQueue?: string
  readonly rate?: ToolRate
  readonly concurrency?: number
  readonly priority?: ToolPriority
  /** Undefined for a tool that never needs approval. */
  readonly approval?: 'always' | ApprovalRule
  /** Undefined: an approval that is remembered covers the same arguments. */
  readonly rememberAs?: RememberRule
  /** Undefined for a tool without an inverse. */
  readonly compensate?: Compensate
  /** Names of the credentials that `run` needs. */
  readonly credentials: readonly string[]
  /** The client of the run executes the calls. `run` has no effect. */
  readonly isClientTool?: true
  /** Target of a remote tool. Its `run` throws. */
  readonly remote?: RemoteTarget
  readonly inputExamples: readonly JsonObject[]
  /** The definition's `summary`. May throw. */
  summarize?(input: z.output<Input>): string
  /** The context of a deferred tool is a {@link DeferredToolContext}, and its result is ignored. */
  run(input: z.output<Input>, context: ToolContext): z.input<Output> | Promise<z.input<Output>>
}

const marker: unique symbol = Symbol.for('durable-ptc.tool')

/** Freezes a tool, and marks it for {@link isTool} of any copy of this package. */
export function sealTool<T extends Tool>(tool: T): T {
  return Object.freeze(Object.defineProperty(tool, marker, { value: true }))
}

export function isTool(value: unknown): value is Tool {
  return typeof value === 'object' && value !== null && marker in value
}
