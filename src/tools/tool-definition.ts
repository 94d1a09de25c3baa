import type { z } from 'zod'
import type { Caller, Effect, ToolExecution } from '../common/calls/calls.js'
import type { ToolConfig } from '../common/calls/tool-config.js'
import type { JsonObject } from '../common/json/json.js'
import type { Duration } from '../common/text/duration.js'
import type { AsZodObject, AsZodType, JsonSchema } from './definition/schemas.js'
import type { CallingRun, DeferredToolContext, ToolContext } from './tool-context.js'

/**
 * Callers of a tool. The values with a date are those of `allowed_callers` in the Messages API, with the same meaning.
 */
export type AllowedCaller = Caller | 'code_execution_20250825' | 'code_execution_20260120' | 'code_execution_20260521'

/** Properties of all tool definitions. A `ToolConfig` records some as they are. */
export interface ToolDeclaration<
  Input extends z.ZodObject | JsonSchema,
  Output extends z.ZodType | JsonSchema,
> extends Pick<ToolConfig, 'concurrency' | 'priority'> {
  /**
   * At most 64 letters, digits and `_ . / -`; also the activity's name in the Temporal UI. When code can't
   * have a function of this name (such as `look.up` or `sum` in Python), it calls the tool by another name, which the
   * prompt tells.
   */
  readonly name: string
  /** For the model: the purpose of the tool and its result. */
  readonly description: string
  /**
   * Schema of the arguments: zod, or JSON Schema. Unknown arguments are refused, unless the schema is a `z.looseObject`
   * or has `additionalProperties`. Defaults of zod apply where the tool runs; those of a JSON Schema are documentation.
   */
  readonly input: Input
  /**
   * Schema of the result: zod, or JSON Schema. Its transforms apply first; the transformed result must be JSON.
   * `file()`: the result is a file, and `run` returns its name and its bytes.
   */
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
   * Calls that need the approval of a person before they start: `'always'`, or a function of the input and the calling
   * run. Default: no call. `{ rule, remember }` also sets the scope of an approval that is remembered.
   * docs/guides/approvals.md says how a call is approved.
   */
  readonly approval?:
    | 'never'
    | 'always'
    | ApprovalRule<z.output<AsZodObject<Input>>>
    | ApprovalOptions<z.output<AsZodObject<Input>>>
  /**
   * Labels of the results, such as `['pii']`, for the rules of `dataFlow` in the configuration; or a function that
   * gives them for one result, only for a tool with `run` and without `deferred`. After a function that throws, and for
   * the error of such a tool, every label that a rule names counts. docs/guides/data-flow.md describes it.
   */
  readonly labels?: readonly string[] | LabelResult<z.output<AsZodType<Output>>>
  /**
   * True when later runs can read what a call is given, as in a memory. Data with a label that some rule restricts goes
   * there only when a rule allows it. Default false.
   */
  readonly keepsArguments?: boolean
  /**
   * A function of the input that returns the key of a lock, such as `({ path }) => path`: two calls of the tool with the
   * same key are never in progress at the same time, over all runs and workers. A call whose key is `undefined` excludes
   * no other. `{ name: 'files', key: ({ path }) => path }` excludes calls of all tools with the same name. Default: no
   * locks. docs/guides/tools.md says how a call waits.
   */
  readonly lockBy?: LockKey<z.output<AsZodObject<Input>>> | SharedLock<z.output<AsZodObject<Input>>>
  /** One line for the Temporal UI: `get_expenses ENG001 Q3`. */
  readonly summary?: (input: z.output<AsZodObject<Input>>) => string
  /** Realistic inputs, shown to the model. */
  readonly inputExamples?: readonly z.input<AsZodObject<Input>>[]
}

/** Argument of {@link defineTool}: a tool that a worker of durable-ptc runs. */
export interface ToolDefinition<Input extends z.ZodObject | JsonSchema, Output extends z.ZodType | JsonSchema>
  extends ToolDeclaration<Input, Output>, Pick<ToolConfig, 'taskQueue' | 'rate'> {
  /**
   * `'local'`: for calls of some milliseconds. When the worker of the sandbox has the tool, a call costs a fraction of an
   * activity, and has no event in the history. A read that takes long or fails is repeated as an activity, and so is an
   * `idempotent` call that fails. docs/guides/tools.md#a-quick-call. Default `'activity'`.
   */
  readonly execution?: ToolExecution
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
  /** Runs the tool. It may throw a `ToolError`, which the program can catch. */
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

/** The second argument of an {@link ApprovalRule}: the caller, its run, and the context of the run. */
export interface GatedCall {
  readonly caller: Caller
  readonly run: CallingRun
  /** The `context` with which the run was started, such as user and tenant. `{}` for a run without one. */
  readonly context: JsonObject
}

/** Returns true for a call that needs approval. A call whose rule throws needs approval, too. */
export type ApprovalRule<Input = never> = (input: Input, call: GatedCall) => boolean | Promise<boolean>

/** Returns the labels of a result. */
export type LabelResult<Output = never> = (result: Output) => readonly string[]

/**
 * Returns a text that defines the scope of an approval with `remember`: later calls of the tool with the same text need
 * none. Without this rule an approval covers only calls with the same arguments.
 */
export type RememberRule<Input = never> = (input: Input) => string

/** Returns the key of the lock of a call: a text of at most 10,000 characters; `undefined` for a call without a lock. */
export type LockKey<Input = never> = (input: Input) => string | undefined

/** The members of `lockBy` as an object. */
export interface SharedLock<Input = never> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  readonly key: LockKey<Input>
}

/** The members of `approval` as an object. */
export interface ApprovalOptions<Input = never> {
  /** Default `'always'`. */
  readonly rule?: 'always' | ApprovalRule<Input>
  readonly remember: RememberRule<Input>
}

/** First argument of a tool's `compensate`: the call whose effect must be undone. */
export interface CompensatedCall<Input, Output> {
  /** The arguments that `run` got. */
  readonly arguments: Input
  /**
   * The result of the call. Undefined when its outcome is unknown (a timeout, a lost worker, a cancellation): then the
   * effect may or may not exist.
   */
  readonly result: Output | undefined
  /** Idempotency key of the call. The context has the key of the compensation. */
  readonly idempotencyKey: string
}

/** Undoes the effect of a call. */
export type Compensate = (call: CompensatedCall<never, never>, context: ToolContext) => void | Promise<void>

/** The retry policy of a tool, with Temporal's names and their meaning. */
export interface RetryDefinition {
  /** Maximum attempts, from 1 to 100; always 1 for `effect: 'once'`, which takes no other option of `retry`. Default 3. */
  readonly attempts?: number
  /** Time before the second attempt. Default 500 ms. */
  readonly initialInterval?: Duration
  /** Factor between an interval and the one before. Default 2. */
  readonly backoffCoefficient?: number
  /** Longest interval. Default 30 seconds. */
  readonly maximumInterval?: Duration
  /** Names of error classes. A call that fails with such an error is not retried. Default: none. */
  readonly nonRetryableErrorTypes?: readonly string[]
}

/** A tool that is an activity of a worker without this package, in any language. */
export interface ActivityTarget {
  /** Activity type. Default: the name of the tool. */
  readonly type?: string
  /** Task queue of the activity. Default: that of the run, for an activity of a worker with the plugin. */
  readonly taskQueue?: string
  /** How long a call may wait for a worker. Default 10 minutes. */
  readonly scheduleToStartTimeout?: Duration
  /** Only for an activity that sends heartbeats: a lost worker is noticed earlier. Default: only the tool's timeout. */
  readonly heartbeatTimeout?: Duration
  /** Passes a second argument, {@link RemoteCall}, to the activity. Default false: only the arguments. */
  readonly passCall?: boolean
}

/** A tool that is a workflow, in any language. It runs as a child of the run. */
export interface WorkflowTarget {
  /** Workflow type. */
  readonly type: string
  /** Task queue of the workflow. Default: that of the run. */
  readonly taskQueue?: string
  /** Passes a second argument, {@link RemoteCall}, to the workflow. Default false: only the arguments. */
  readonly passCall?: boolean
}

/** A tool that is an operation of a Nexus service, possibly in another namespace. */
export interface NexusTarget {
  /** Name of the endpoint on the server. */
  readonly endpoint: string
  readonly service: string
  readonly operation: string
  /** Makes the input `{ arguments, call }`, with the {@link RemoteCall}. Default false: only the arguments. */
  readonly passCall?: boolean
}
