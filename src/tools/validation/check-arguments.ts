import { z } from 'zod'
import { rejectOnUncaught } from '../../common/async/uncaught-errors.js'
import type { Caller } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import type { Limits } from '../../common/run/limits.js'
import { describeThrown } from '../calls/thrown.js'
import { measureJson } from './measure-json.js'
import { type ParsedValue, parseValue, parseValueNow } from './parse-value.js'
import { repairArguments } from './repair-arguments.js'
import { interruptAfter, TimeLimitError } from './time-limit.js'
import type { ToolRegistry } from '../registry.js'
import type { Tool } from '../tool.js'
import { takeStart } from '../../common/text/text.js'

/** Why a call must not run. The outcome for the model and the error of `runTool` have the same message. */
export interface Refusal {
  readonly code: 'TOOL_UNKNOWN' | 'TOOL_NOT_ALLOWED' | 'TOOL_INPUT_INVALID'
  readonly message: string
  /** The arguments could not be checked. Another process may accept them. */
  readonly isUndecided?: true
}

/** What a tool declares about its arguments. */
interface InputDeclaration {
  readonly name: string
  readonly input: z.ZodType<Record<string, unknown>>
  readonly repairsArguments?: true
}

type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal }

const maxListedTools = 20

/** A schema may take microseconds for each invalid value, in a thread that serves other runs, too. */
const maxArgumentValues = 20_000

/** The tool, if it exists and this caller may call it. */
export function findTool(registry: ToolRegistry, name: string, caller: Caller): Checked<Tool> {
  const tool = registry.get(name)
  if (tool === undefined) {
    const callable = registry.names.filter((one) => registry.get(one)?.allowedCallers.includes(caller))
    const ellipsis = callable.length > maxListedTools ? ', …' : ''
    const known =
      callable.length === 0
        ? 'There are none to call.'
        : `There are: ${callable.slice(0, maxListedTools).join(', ')}${ellipsis}.`
    return refuse('TOOL_UNKNOWN', `There is no tool named ${JSON.stringify(takeStart(name, 100))}. ${known}`)
  }
  if (tool.allowedCallers.includes(caller)) return { ok: true, value: tool }
  const allowed =
    caller === 'direct' ? 'only code that runs in execute_code may call it' : 'code may not call it; call it directly'
  return refuse('TOOL_NOT_ALLOWED', `${name} is not allowed here: ${allowed}.`)
}

/** Checks that the arguments are JSON within the limits of size and depth. Later steps rely on it. */
export function checkSize(args: JsonObject, limits: Pick<Limits, 'argumentBytes'>): Refusal | undefined {
  const limit = { bytes: limits.argumentBytes, values: maxArgumentValues }
  const measured = measureJson(args, limit.bytes, limit.values)
  if (measured.type === 'json') return undefined
  return {
    code: 'TOOL_INPUT_INVALID',
    message:
      measured.type === 'too_large'
        ? `The arguments are over the limit of ${limit[measured.over]} ${measured.over}. Send less.`
        : `The arguments are not plain JSON${measured.path && ` at ${measured.path}`}: ${measured.reason}.`,
  }
}

/** The arguments parsed by the tool's schema, which may have asynchronous checks. */
export async function parseArguments(
  tool: InputDeclaration,
  args: JsonObject,
): Promise<Checked<Readonly<Record<string, unknown>>>> {
  try {
    const work = { name: `the input schema of ${tool.name}` }
    const parsed = await rejectOnUncaught(work, () => parseValue(tool.input, args))
    return toChecked(tool, repair(tool, args, parsed))
  } catch (thrown) {
    return checkFailed(tool, thrown)
  }
}

/** Synchronous {@link parseArguments}; undefined if the schema has asynchronous checks. */
export function parseArgumentsNow(
  tool: Tool,
  args: JsonObject,
): Checked<Readonly<Record<string, unknown>>> | undefined {
  try {
    return toChecked(tool, repair(tool, args, parseValueNow(tool.input, args)))
  } catch (thrown) {
    return thrown instanceof z.core.$ZodAsyncError ? undefined : checkFailed(tool, thrown)
  }
}

/** The arguments that a caller meant, if the schema has refused those that it sent. */
function repair(
  { input, repairsArguments }: InputDeclaration,
  args: JsonObject,
  parsed: ParsedValue<Record<string, unknown>>,
): ParsedValue<Record<string, unknown>> {
  if (parsed.ok || parsed.isUndecided || !repairsArguments) return parsed
  const repaired = tryInTime(() => repairArguments(input, args, maxArgumentValues))
  const again = repaired && parseValueNow(input, repaired)
  return again?.ok === true ? again : parsed
}

function tryInTime<Result>(run: () => Result): Result | undefined {
  try {
    return interruptAfter(run)
  } catch (thrown) {
    if (thrown instanceof TimeLimitError) return undefined
    throw thrown
  }
}

function toChecked(
  tool: InputDeclaration,
  parsed: ParsedValue<Record<string, unknown>>,
): Checked<Readonly<Record<string, unknown>>> {
  if (parsed.ok) return parsed
  const { issues, isUndecided } = parsed
  return refuse('TOOL_INPUT_INVALID', `The arguments do not fit ${tool.name}:\n${issues}`, isUndecided)
}

function checkFailed(tool: InputDeclaration, thrown: unknown): Checked<never> {
  const message = `The arguments of ${tool.name} could not be checked: ${describeThrown(thrown)}`
  return refuse('TOOL_INPUT_INVALID', message, true)
}

function refuse(code: Refusal['code'], message: string, isUndecided?: true): Checked<never> {
  return { ok: false, refusal: { code, message, ...(isUndecided && { isUndecided }) } }
}
