import { z } from 'zod'
import type { Caller, Effect, Execution } from '../common/calls.js'
import { messageOf, PtcError } from '../common/errors.js'
import type { JsonObject } from '../common/json.js'
import { describeUnknownKeys } from '../common/unknown-keys.js'
import { parseDuration } from './duration.js'
import { checkSchema } from './validation/check-schema.js'
import { describeIssues } from './validation/describe-issues.js'
import { toJsonSchema } from './validation/json-schema.js'
import { measureJson } from './validation/measure-json.js'
import { sealTool } from './tool.js'
import type { Tool, ToolDefinition } from './tool.js'
import { checkToolName } from './tool-name.js'

const callers = ['direct', 'code_execution'] as const satisfies readonly Caller[]
const effects = ['read', 'idempotent', 'once'] as const satisfies readonly Effect[]
const executions = ['activity', 'local'] as const satisfies readonly Execution[]
const defaultTimeoutMs = 60_000
const defaultAttempts = 3
const maxExampleBytes = 16 * 1024

/**
 * Creates a tool. Types, validation, the documentation for the model and the retry policy all derive from the
 * definition.
 *
 * @throws PtcError TOOL_NAME_INVALID, CONFIG_INVALID: the definition is checked here, before anything runs
 */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodType>(
  definition: ToolDefinition<Input, Output>,
): Tool<Input, Output> {
  const { name, description } = definition
  checkToolName(name)
  const invalid = (message: string, hint?: string) =>
    new PtcError('CONFIG_INVALID', `tool ${name}: ${message}`, hint === undefined ? {} : { hint })

  checkKeys(definition, invalid)
  if (typeof description !== 'string' || description.trim() === '') {
    throw invalid('description is missing', 'Say in a sentence or two what the tool does and what it returns.')
  }
  if (typeof definition.run !== 'function') throw invalid('run is missing: it must be a function')
  checkChoice('effect', [definition.effect], effects, invalid)
  const allowedCallers = definition.allowedCallers ?? callers
  checkChoice('allowedCallers', allowedCallers, callers, invalid)
  checkSchema('input', definition.input, invalid)
  checkSchema('output', definition.output, invalid)
  const input = strictInput(definition.input, invalid)

  return sealTool({
    name,
    description: description.trim(),
    input,
    output: definition.output,
    inputSchema: schemaOf('input', input, invalid),
    outputSchema: schemaOf('output', definition.output, invalid),
    allowedCallers: Object.freeze([...new Set(allowedCallers)]),
    effect: definition.effect,
    execution: executionOf(definition, invalid),
    timeoutMs: timeoutOf(definition.timeout, invalid),
    attempts: attemptsOf(definition, invalid),
    inputExamples: examplesOf(input, definition.inputExamples ?? [], invalid),
    ...optionalSummary(definition.summary, invalid),
    run: definition.run.bind(definition),
  })
}

type InvalidError = (message: string, hint?: string) => PtcError

const definitionKeys: readonly string[] = [
  'name',
  'description',
  'input',
  'output',
  'allowedCallers',
  'effect',
  'execution',
  'timeout',
  'retry',
  'summary',
  'inputExamples',
  'run',
] satisfies readonly (keyof ToolDefinition<z.ZodObject, z.ZodType>)[]

/** A misspelt option would be ignored silently. Instances of classes are not checked: they may have other members. */
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

function checkChoice(
  field: string,
  given: readonly unknown[],
  choices: readonly string[],
  invalid: InvalidError,
): void {
  const known = Array.isArray(given) && given.length > 0 && given.every((one) => choices.includes(one as string))
  if (!known) throw invalid(`${field} must be ${choices.map((choice) => `'${choice}'`).join(' or ')}`, hints[field])
}

const hints: Readonly<Record<string, string>> = {
  effect:
    "'read' changes nothing; 'idempotent' may be repeated with the same idempotency key; 'once' must not happen twice and is never retried.",
}

/** Refuses unknown arguments, as Python does: silently dropping a misspelt one would give a wrong result. */
function strictInput<Input extends z.ZodObject>(schema: Input, invalid: InvalidError): Input {
  if (schema.def.type !== 'object') {
    throw invalid('input must be a z.object(…)', 'Arguments have names; put the value into a field of an object.')
  }
  return schema.def.catchall === undefined ? (schema.strict() as z.ZodObject as Input) : schema
}

function schemaOf(field: 'input' | 'output', schema: z.ZodType, invalid: InvalidError): JsonObject {
  try {
    return toJsonSchema(schema, field)
  } catch (cause) {
    throw invalid(
      `${field} can't be shown as JSON Schema: ${messageOf(cause)}`,
      field === 'output'
        ? 'Use types that JSON has (a date as z.iso.datetime()), and end a transform with .pipe(schema of its result).'
        : 'Use types that JSON has (a date as z.iso.datetime()).',
    )
  }
}

function executionOf(
  { effect, execution = 'activity' }: { readonly effect: Effect; readonly execution?: Execution },
  invalid: InvalidError,
): Execution {
  checkChoice('execution', [execution], executions, invalid)
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

function attemptsOf(
  { effect, retry }: { readonly effect: Effect; readonly retry?: { readonly attempts: number } },
  invalid: InvalidError,
): number {
  if (retry !== undefined) {
    if (typeof retry !== 'object' || retry === null) throw invalid('retry must be an object: { attempts: 3 }')
    const problem = describeUnknownKeys(retry, ['attempts'])
    if (problem !== undefined) throw invalid(`retry: ${problem}`)
  }
  const attempts = retry?.attempts ?? (effect === 'once' ? 1 : defaultAttempts)
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 100) {
    throw invalid('retry.attempts must be a whole number from 1 to 100')
  }
  if (effect === 'once' && attempts !== 1) {
    throw invalid(
      "retry.attempts must be 1 for effect 'once'",
      "A tool that may be repeated with the same idempotency key is effect 'idempotent'.",
    )
  }
  return attempts
}

function examplesOf(input: z.ZodObject, examples: readonly unknown[], invalid: InvalidError): readonly JsonObject[] {
  if (!Array.isArray(examples)) throw invalid('inputExamples must be an array')
  return examples.map((example: unknown, index) => {
    const measured = measureJson(example, maxExampleBytes)
    if (measured.type === 'too_large') throw invalid(`inputExamples[${index}] is over ${maxExampleBytes} bytes`)
    if (measured.type === 'not_json')
      throw invalid(`inputExamples[${index}]${measured.path && `.${measured.path}`} is not JSON: ${measured.reason}`)
    try {
      const { success, error } = z.safeParse(input, example)
      if (!success) throw invalid(`inputExamples[${index}] breaks the input schema:\n${describeIssues(error)}`)
    } catch (thrown) {
      // Asynchronous checks can't run here; they run at every call.
      if (!(thrown instanceof z.core.$ZodAsyncError)) throw thrown
    }
    return JSON.parse(JSON.stringify(example)) as JsonObject
  })
}
