import { z } from 'zod'
import type { Effect, Execution } from '../common/calls/calls.js'
import { PtcError } from '../common/errors.js'
import type { JsonObject } from '../common/json/json.js'
import type { RemoteTarget, ToolPriority, ToolRate } from '../common/calls/tool-config.js'
import { describeUnknownKeys } from '../common/text/unknown-keys.js'
import { parseDuration } from '../common/text/duration.js'
import { deferredOf } from './definition/deferred.js'
import { compensateOf } from './definition/compensate.js'
import { callersOf } from './definition/callers.js'
import { checkChoice } from './definition/choice.js'
import { approvalOf } from './definition/approval.js'
import { type InvalidError, invalidTool, parseOption } from './definition/invalid-tool.js'
import {
  concurrency as concurrencySchema,
  credentialNames,
  priority as prioritySchema,
  rate as rateSchema,
  taskQueueName,
} from './definition/options.js'
import {
  type ActivityTarget,
  type NexusTarget,
  parseRemoteTarget,
  type WorkflowTarget,
} from './definition/remote-target.js'
import { parseRetry } from './definition/retry.js'
import {
  assertParsesToJson,
  type AsZodObject,
  type AsZodType,
  type JsonSchema,
  readInput,
  readOutput,
} from './definition/schemas.js'
import { measureJson } from './validation/measure-json.js'
import { parseValueNow } from './validation/parse-value.js'
import { sealTool } from './tool.js'
import type { DeferredToolDefinition, RemoteToolDefinition, Tool, ToolDefinition } from './tool.js'
import { checkToolName } from './tool-name.js'

const effects = ['read', 'idempotent', 'once'] as const satisfies readonly Effect[]
const executions = ['activity', 'local'] as const satisfies readonly Execution[]
const defaultTimeoutMs = 60_000
const maxExampleBytes = 16 * 1024

/**
 * Creates a tool. Types, validation, the documentation for the model and the retry policy all derive from the
 * definition.
 *
 * A tool has exactly one of `run`, `activity`, `workflow` and `nexus`. The last three define a remote tool, whose calls
 * another worker executes.
 *
 * @throws PtcError TOOL_NAME_INVALID, CONFIG_INVALID: the definition is checked here, before any call
 */
export function defineTool<Input extends z.ZodObject | JsonSchema, Output extends z.ZodType | JsonSchema>(
  definition: DeferredToolDefinition<Input, Output>,
): Tool<AsZodObject<Input>, AsZodType<Output>>
export function defineTool<Input extends z.ZodObject | JsonSchema, Output extends z.ZodType | JsonSchema>(
  definition: RemoteToolDefinition<Input, Output, { readonly activity: ActivityTarget }>,
): Tool<AsZodObject<Input>, AsZodType<Output>>
export function defineTool<Input extends z.ZodObject | JsonSchema, Output extends z.ZodType | JsonSchema>(
  definition: RemoteToolDefinition<Input, Output, { readonly workflow: WorkflowTarget }>,
): Tool<AsZodObject<Input>, AsZodType<Output>>
export function defineTool<Input extends z.ZodObject | JsonSchema, Output extends z.ZodType | JsonSchema>(
  definition: RemoteToolDefinition<Input, Output, { readonly nexus: NexusTarget }>,
): Tool<AsZodObject<Input>, AsZodType<Output>>
// This overload is last, because compilers report only the error of the last of more than three overloads.
export function defineTool<Input extends z.ZodObject | JsonSchema, Output extends z.ZodType | JsonSchema>(
  definition: ToolDefinition<Input, Output>,
): Tool<AsZodObject<Input>, AsZodType<Output>>
export function defineTool(definition: AnyDefinition): Tool {
  const { name, description } = definition
  checkToolName(name)
  const invalid = invalidTool(name)

  checkKeys(definition, invalid)
  if (typeof description !== 'string' || description.trim() === '') {
    throw invalid('description is missing', 'Say in a sentence or two what the tool does and what it returns.')
  }
  const remote = parseRemoteTarget(definition, invalid)
  checkChoice('effect', [definition.effect], effects, invalid)
  const input = readInput(definition.input, invalid)
  const output = readOutput(definition.output, invalid)
  if (remote && !input.documentsDefaults) assertParsesToJson(input.schema, invalid)

  return sealTool({
    name,
    description: description.trim(),
    input: input.schema,
    output: output.schema,
    inputSchema: input.json,
    outputSchema: output.json,
    ...(input.documentsDefaults && { documentsDefaults: true as const }),
    ...callersOf(definition, invalid),
    effect: definition.effect,
    execution: executionOf(definition, remote, invalid),
    deferred: deferredOf(definition, remote, invalid),
    timeoutMs: timeoutOf(definition.timeout, invalid),
    ...parseRetry(definition, remote, invalid),
    ...queueOf(definition, remote, invalid),
    ...concurrencyOf(definition, invalid),
    ...priorityOf(definition, remote, invalid),
    ...approvalOf(definition, invalid),
    ...compensateOf(definition, remote, invalid),
    credentials: credentialsOf(definition, remote, invalid),
    ...(remote && { remote }),
    inputExamples: examplesOf(input.schema, definition.inputExamples ?? [], invalid),
    ...optionalSummary(definition.summary, invalid),
    run: definition.run?.bind(definition) ?? runsElsewhere(name),
  })
}

/** A definition of any kind, before it is checked. */
type AnyDefinition = Omit<
  ToolDefinition<z.ZodObject, z.ZodType>,
  'input' | 'output' | 'run' | 'deferred' | 'approval' | 'compensate'
> & {
  readonly input: unknown
  readonly output: unknown
  readonly run?: Tool['run']
  readonly deferred?: unknown
  readonly approval?: unknown
  readonly compensate?: unknown
  readonly activity?: unknown
  readonly workflow?: unknown
  readonly nexus?: unknown
}

const definitionKeys: readonly string[] = [
  'name',
  'description',
  'input',
  'output',
  'allowedCallers',
  'effect',
  'execution',
  'deferred',
  'timeout',
  'retry',
  'taskQueue',
  'rate',
  'concurrency',
  'priority',
  'approval',
  'compensate',
  'credentials',
  'summary',
  'inputExamples',
  'run',
  'activity',
  'workflow',
  'nexus',
] satisfies readonly (keyof AnyDefinition)[]

/**
 * Refuses unknown keys, because a misspelt option would be ignored silently. Does not check instances of classes, which
 * may have other members.
 */
function checkKeys(definition: object, invalid: InvalidError): void {
  if (Object.getPrototypeOf(definition) !== Object.prototype) return
  const problem = describeUnknownKeys(definition, definitionKeys)
  if (problem !== undefined) throw invalid(problem, `A tool has the keys ${definitionKeys.join(', ')}.`)
}

function optionalSummary<Summary>(
  summary: Summary | undefined,
  invalid: InvalidError,
): { readonly summarize?: Summary } {
  if (summary === undefined) return {}
  if (typeof summary !== 'function') throw invalid('summary must be a function of the input')
  return { summarize: summary }
}

function executionOf(
  {
    effect,
    execution = 'activity',
    deferred,
    taskQueue,
    rate,
  }: Pick<AnyDefinition, 'effect' | 'execution' | 'deferred' | 'taskQueue' | 'rate'>,
  remote: RemoteTarget | undefined,
  invalid: InvalidError,
): Execution {
  checkChoice('execution', [execution], executions, invalid)
  if (execution === 'local' && deferred !== undefined) {
    throw invalid("execution 'local' is not for a deferred tool", 'Its result comes later, through Temporal.')
  }
  if (execution === 'local' && (remote !== undefined || taskQueue !== undefined || rate !== undefined)) {
    const other = remote?.kind ?? (rate === undefined ? 'taskQueue' : 'rate')
    throw invalid(`execution 'local' and ${other} exclude each other`, 'A local call is not on a task queue.')
  }
  if (execution === 'local' && effect !== 'read') {
    throw invalid("execution 'local' is for effect 'read'", 'A local call may be repeated when its worker dies.')
  }
  return execution
}

function timeoutOf(timeout: unknown, invalid: InvalidError): number {
  const ms = parseDuration(timeout ?? defaultTimeoutMs)
  if (ms !== undefined) return ms
  throw invalid("timeout must be milliseconds or text such as '30s', above 0 and at most 24 days")
}

interface QueueOptions {
  readonly taskQueue?: string
  readonly rate?: ToolRate
}

function queueOf(
  { taskQueue, rate }: Pick<AnyDefinition, 'taskQueue' | 'rate'>,
  remote: RemoteTarget | undefined,
  invalid: InvalidError,
): QueueOptions {
  const given = taskQueue === undefined ? (rate === undefined ? undefined : 'rate') : 'taskQueue'
  if (given !== undefined && remote !== undefined) {
    throw invalid(
      `${given} is for a tool with run`,
      given === 'rate'
        ? "The worker that executes the calls sets the rate of its task queue: Temporal's option is maxTaskQueueActivitiesPerSecond."
        : `Write ${remote.kind}: { taskQueue: … }.`,
    )
  }
  return {
    ...(taskQueue !== undefined && { taskQueue: parseOption('taskQueue', taskQueueName, taskQueue, invalid) }),
    ...(rate !== undefined && { rate: Object.freeze(parseOption('rate', rateSchema, rate, invalid)) }),
  }
}

function concurrencyOf(
  { execution, concurrency }: Pick<AnyDefinition, 'execution' | 'concurrency'>,
  invalid: InvalidError,
): { readonly concurrency?: number } {
  if (concurrency === undefined) return {}
  if (execution === 'local') {
    throw invalid("execution 'local' and concurrency exclude each other", 'A worker makes a local call by itself.')
  }
  return { concurrency: parseOption('concurrency', concurrencySchema, concurrency, invalid) }
}

function priorityOf(
  { priority }: Pick<AnyDefinition, 'priority'>,
  remote: RemoteTarget | undefined,
  invalid: InvalidError,
): { readonly priority?: ToolPriority } {
  if (priority === undefined) return {}
  if (remote?.kind === 'nexus') throw invalid('priority is not for a Nexus operation')
  // JSON leaves out undefined members.
  const parsed = JSON.parse(JSON.stringify(parseOption('priority', prioritySchema, priority, invalid))) as ToolPriority
  return { priority: Object.freeze(parsed) }
}

function credentialsOf(
  { credentials }: Pick<AnyDefinition, 'credentials'>,
  remote: RemoteTarget | undefined,
  invalid: InvalidError,
): readonly string[] {
  if (credentials === undefined) return []
  if (remote !== undefined) {
    throw invalid('credentials is for a tool with run', 'The worker that executes the calls has its own credentials.')
  }
  return Object.freeze([...new Set(parseOption('credentials', credentialNames, credentials, invalid))])
}

function runsElsewhere(name: string): Tool['run'] {
  return () => {
    throw new PtcError('CONFIG_INVALID', `${name} is a remote tool: this process can't run it`)
  }
}

function examplesOf(input: z.ZodObject, examples: readonly unknown[], invalid: InvalidError): readonly JsonObject[] {
  if (!Array.isArray(examples)) throw invalid('inputExamples must be an array')
  return examples.map((example: unknown, index) => {
    const measured = measureJson(example, maxExampleBytes)
    if (measured.type === 'too_large') throw invalid(`inputExamples[${index}] is over ${maxExampleBytes} bytes`)
    if (measured.type === 'not_json')
      throw invalid(`inputExamples[${index}]${measured.path && `.${measured.path}`} is not JSON: ${measured.reason}`)
    try {
      const parsed = parseValueNow(input, example)
      if (!parsed.ok) throw invalid(`inputExamples[${index}] breaks the input schema:\n${parsed.issues}`)
    } catch (thrown) {
      // Asynchronous checks can't run here; they run at every call.
      if (!(thrown instanceof z.core.$ZodAsyncError)) throw thrown
    }
    return JSON.parse(JSON.stringify(example)) as JsonObject
  })
}
