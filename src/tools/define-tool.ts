import { z } from 'zod'
import type { Effect, ToolExecution } from '../common/calls/calls.js'
import { defined } from '../common/defined.js'
import { PtcError } from '../common/errors.js'
import type { JsonObject } from '../common/json/json.js'
import { digestJson } from '../common/calls/call-identity.js'
import type { ToolPriority } from '../common/calls/tool-config.js'
import { describeUnknownKeys } from '../common/text/unknown-keys.js'
import { parseDuration } from '../common/text/duration.js'
import { deferredOf } from './definition/deferred.js'
import { compensateOf } from './definition/compensate.js'
import { callersOf } from './definition/callers.js'
import { approvalOf } from './definition/approval.js'
import { keepsArgumentsOf, labelsOf } from './definition/labels.js'
import { lockOf } from './definition/lock.js'
import { checkChoice, type InvalidError, invalidTool, parseOption } from './definition/invalid-tool.js'
import {
  concurrency as concurrencySchema,
  credentialNames,
  priority as prioritySchema,
  rate as rateSchema,
  taskQueueName,
} from './definition/options.js'
import { parseRemoteTarget } from './definition/remote-target.js'
import { parseRetry } from './definition/retry.js'
import {
  assertParsesToJson,
  type AsZodObject,
  type AsZodType,
  type JsonSchema,
  readInput,
  readOutput,
  type ReadSchema,
} from './definition/schemas.js'
import { measureJson } from './validation/measure-json.js'
import { parseValueNow } from './validation/parse-value.js'
import { describeFileOutput } from './file-output.js'
import type { AnyDefinition, OptionBasis } from './definition/option-basis.js'
import { sealTool, type Tool } from './tool.js'
import type {
  ActivityTarget,
  DeferredToolDefinition,
  NexusTarget,
  RemoteToolDefinition,
  ToolDefinition,
  WorkflowTarget,
} from './tool-definition.js'
import { checkToolName } from './tool-name.js'

const effects = ['read', 'idempotent', 'once'] as const satisfies readonly Effect[]
const executions = ['activity', 'local'] as const satisfies readonly ToolExecution[]
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
  return makeTool(definition, (invalid) => ({
    input: readInput(definition.input, invalid),
    output: readOutput(definition.output, invalid),
  }))
}

/** The schemas of a tool that were read elsewhere. */
interface ReadSchemas {
  readonly input: ReadSchema<z.ZodObject>
  readonly output: ReadSchema<z.ZodType>
}

/**
 * As {@link defineTool}, for a source of tools that has read the schemas itself.
 *
 * @throws PtcError TOOL_NAME_INVALID, CONFIG_INVALID
 */
export function defineReadTool(
  definition: Omit<ToolDefinition<z.ZodObject, z.ZodType>, 'input' | 'output'>,
  { input, output }: ReadSchemas,
): Tool {
  return makeTool({ ...definition, input: input.schema, output: output.schema }, () => ({ input, output }))
}

function makeTool(definition: AnyDefinition, readSchemas: (invalid: InvalidError) => ReadSchemas): Tool {
  const { name, description } = definition
  checkToolName(name)
  const invalid = invalidTool(name)

  checkKeys(definition, invalid)
  if (typeof description !== 'string' || description.trim() === '') {
    throw invalid('description is missing', 'Say in a sentence or two what the tool does and what it returns.')
  }
  const remote = parseRemoteTarget(definition, invalid)
  checkChoice('effect', [definition.effect], effects, invalid)
  const { input, output } = readSchemas(invalid)
  if (remote && !input.documentsDefaults) assertParsesToJson(input.schema, invalid)
  const basis = { definition, remote, input: input.schema, invalid }
  const { file } = output
  if (file) checkReturnsFile(basis)

  return sealTool({
    name,
    description: file ? `${description.trim()}\n${describeFileOutput(file)}` : description.trim(),
    input: input.schema,
    output: output.schema,
    inputSchema: input.json,
    outputSchema: output.json,
    inputDigest: digestJson(input.json),
    ...(input.documentsDefaults && { documentsDefaults: true as const }),
    effect: definition.effect,
    ...defined({ remote }),
    ...(file && { file, returnsFile: true as const }),
    run: definition.run?.bind(definition) ?? runsElsewhere(name),
    ...(Object.assign({}, ...Object.values(options).map((read) => read(basis))) as ReadOptions),
  })
}

/** Checks each option of a definition, and returns its part of the tool. */
const options = {
  allowedCallers: callersOf,
  execution: executionOf,
  deferred: deferredOf,
  timeout: timeoutOf,
  retry: parseRetry,
  taskQueue: taskQueueOf,
  rate: rateOf,
  concurrency: concurrencyOf,
  lockBy: lockOf,
  priority: priorityOf,
  approval: approvalOf,
  labels: labelsOf,
  keepsArguments: keepsArgumentsOf,
  compensate: compensateOf,
  credentials: credentialsOf,
  summary: summaryOf,
  inputExamples: examplesOf,
} satisfies { readonly [Key in keyof AnyDefinition]?: (basis: OptionBasis) => Partial<Tool> }

type Joined<Part> = (Part extends unknown ? (part: Part) => void : never) extends (all: infer All) => void ? All : never
type ReadOptions = Joined<ReturnType<(typeof options)[keyof typeof options]>>

const basicKeys = [
  'name',
  'description',
  'input',
  'output',
  'effect',
  'run',
  'activity',
  'workflow',
  'nexus',
] as const satisfies readonly Exclude<keyof AnyDefinition, keyof typeof options>[]

const definitionKeys: readonly string[] = [...basicKeys, ...Object.keys(options)]

/**
 * Refuses unknown keys, because a misspelt option would be ignored silently. Does not check instances of classes, which
 * may have other members.
 */
function checkKeys(definition: object, invalid: InvalidError): void {
  if (Object.getPrototypeOf(definition) !== Object.prototype) return
  const problem = describeUnknownKeys(definition, definitionKeys)
  if (problem !== undefined) throw invalid(problem, `A tool has the keys ${definitionKeys.join(', ')}.`)
}

/** A file is stored by the activity in which `run` returns it. */
function checkReturnsFile({ definition: { execution, deferred }, remote, invalid }: OptionBasis): void {
  if (remote) throw invalid('output: file() is for a tool with run', `A ${remote.kind} returns JSON.`)
  if (deferred !== undefined) throw invalid('output: file() is not for a deferred tool', 'Its result comes as JSON.')
  if (execution === 'local')
    throw invalid("execution 'local' and output: file() exclude each other", 'A file is stored by an activity.')
}

function summaryOf({ definition: { summary }, invalid }: OptionBasis): Pick<Tool, 'summarize'> {
  if (summary === undefined) return {}
  if (typeof summary !== 'function') throw invalid('summary must be a function of the input')
  return { summarize: summary }
}

function executionOf({ definition, remote, invalid }: OptionBasis): Pick<Tool, 'execution'> {
  const { execution = 'activity', deferred, taskQueue, rate, compensate } = definition
  checkChoice('execution', [execution], executions, invalid)
  if (execution !== 'local') return {}
  if (deferred !== undefined) {
    throw invalid("execution 'local' is not for a deferred tool", 'Its result comes later, through Temporal.')
  }
  if (remote !== undefined || taskQueue !== undefined || rate !== undefined) {
    const other = remote?.kind ?? (rate === undefined ? 'taskQueue' : 'rate')
    throw invalid(`execution 'local' and ${other} exclude each other`, 'A local call is not on a task queue.')
  }
  if (compensate !== undefined)
    throw invalid("execution 'local' and compensate exclude each other", 'A worker makes a local call by itself.')
  return { execution }
}

function timeoutOf({ definition: { timeout = defaultTimeoutMs }, invalid }: OptionBasis) {
  const timeoutMs = parseDuration(timeout)
  if (timeoutMs !== undefined) return { timeoutMs }
  throw invalid("timeout must be milliseconds or text such as '30s', above 0 and at most 24 days")
}

function taskQueueOf({ definition: { taskQueue }, remote, invalid }: OptionBasis): Pick<Tool, 'taskQueue'> {
  if (taskQueue === undefined) return {}
  if (remote) throw invalid('taskQueue is for a tool with run', `Write ${remote.kind}: { taskQueue: … }.`)
  return { taskQueue: parseOption('taskQueue', taskQueueName, taskQueue, invalid) }
}

function rateOf({ definition: { rate }, remote, invalid }: OptionBasis): Pick<Tool, 'rate'> {
  if (rate === undefined) return {}
  if (remote) {
    throw invalid(
      'rate is for a tool with run',
      "The worker that executes the calls sets the rate of its task queue: Temporal's option is maxTaskQueueActivitiesPerSecond.",
    )
  }
  return { rate: Object.freeze(parseOption('rate', rateSchema, rate, invalid)) }
}

function concurrencyOf({ definition, invalid }: OptionBasis): Pick<Tool, 'concurrency'> {
  const { execution, concurrency } = definition
  if (concurrency === undefined) return {}
  if (execution === 'local') {
    throw invalid("execution 'local' and concurrency exclude each other", 'A worker makes a local call by itself.')
  }
  return { concurrency: parseOption('concurrency', concurrencySchema, concurrency, invalid) }
}

function priorityOf({ definition: { priority }, remote, invalid }: OptionBasis): Pick<Tool, 'priority'> {
  if (priority === undefined) return {}
  if (remote?.kind === 'nexus') throw invalid('priority is not for a Nexus operation')
  // JSON leaves out undefined members.
  const parsed = JSON.parse(JSON.stringify(parseOption('priority', prioritySchema, priority, invalid))) as ToolPriority
  return { priority: Object.freeze(parsed) }
}

function credentialsOf({ definition: { credentials = [] }, remote, invalid }: OptionBasis) {
  if (remote !== undefined && credentials.length > 0) {
    throw invalid('credentials is for a tool with run', 'The worker that executes the calls has its own credentials.')
  }
  return { credentials: Object.freeze([...new Set(parseOption('credentials', credentialNames, credentials, invalid))]) }
}

function runsElsewhere(name: string): Tool['run'] {
  return () => {
    throw new PtcError('CONFIG_INVALID', `${name} is a remote tool: this process can't run it`)
  }
}

function examplesOf({ definition, input, invalid }: OptionBasis) {
  const { inputExamples = [] } = definition
  if (!Array.isArray(inputExamples)) throw invalid('inputExamples must be an array')
  return { inputExamples: inputExamples.map((example, index) => readExample(example, input, index, invalid)) }
}

function readExample(example: unknown, input: z.ZodObject, index: number, invalid: InvalidError): JsonObject {
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
}
