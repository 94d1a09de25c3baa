import { z } from 'zod'
import type { Caller } from '../common/calls.js'
import type { JsonObject } from '../common/json.js'
import type { Limits } from '../common/limits.js'
import { messageOfThrown } from './thrown.js'
import { describeIssues } from './issues.js'
import { measureJson } from './plain-json.js'
import type { ToolRegistry } from './registry.js'
import type { Tool } from './tool.js'

/** Why a call must not run. The same words go to the model (as an outcome) and into the error of a call that ran all the same. */
export interface Refusal {
  readonly code: 'TOOL_UNKNOWN' | 'TOOL_NOT_ALLOWED' | 'TOOL_INPUT_INVALID'
  readonly message: string
}

export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal }

const shownTools = 20

/** A schema may take microseconds for each value that does not fit it, on a thread that serves other runs as well. */
const argumentValues = 20_000

/** The tool, if there is one and this caller may call it. */
export function findTool(registry: ToolRegistry, name: string, caller: Caller): Checked<Tool> {
  const tool = registry.get(name)
  if (tool === undefined) {
    const callable = registry.names.filter((one) => registry.get(one)?.allowedCallers.includes(caller))
    const rest = callable.length > shownTools ? ', …' : ''
    const known =
      callable.length === 0
        ? 'There are none to call.'
        : `There are: ${callable.slice(0, shownTools).join(', ')}${rest}.`
    return refuse('TOOL_UNKNOWN', `There is no tool named ${JSON.stringify(name.slice(0, 100))}. ${known}`)
  }
  if (tool.allowedCallers.includes(caller)) return { ok: true, value: tool }
  const allowed =
    caller === 'direct' ? 'only code that runs in execute_code may call it' : 'code may not call it; call it directly'
  return refuse('TOOL_NOT_ALLOWED', `${name} is not allowed here: ${allowed}.`)
}

/** Are these arguments JSON, small and flat enough? Everything later may rely on it. */
export function checkSize(args: JsonObject, limits: Pick<Limits, 'argumentBytes'>): Refusal | undefined {
  const limit = { bytes: limits.argumentBytes, values: argumentValues }
  const measured = measureJson(args, limit.bytes, limit.values)
  if (measured.type === 'json') return undefined
  return {
    code: 'TOOL_INPUT_INVALID',
    message:
      measured.type === 'endless'
        ? `The arguments are over the limit of ${limit[measured.over]} ${measured.over}. Send less.`
        : `The arguments are not plain JSON${measured.path && ` at ${measured.path}`}: ${measured.reason}.`,
  }
}

/** The arguments as the tool's schema reads them. Its checks may be asynchronous. */
export async function parseArguments(
  tool: Tool,
  args: JsonObject,
): Promise<Checked<Readonly<Record<string, unknown>>>> {
  try {
    return parsed(tool, await z.safeParseAsync(tool.input, args))
  } catch (thrown) {
    return checkThrew(tool, thrown)
  }
}

/** {@link parseArguments} without waiting; undefined when the schema has asynchronous checks. */
export function parseArgumentsNow(
  tool: Tool,
  args: JsonObject,
): Checked<Readonly<Record<string, unknown>>> | undefined {
  try {
    return parsed(tool, z.safeParse(tool.input, args))
  } catch (thrown) {
    return thrown instanceof z.core.$ZodAsyncError ? undefined : checkThrew(tool, thrown)
  }
}

function parsed(
  tool: Tool,
  result: z.ZodSafeParseResult<Record<string, unknown>>,
): Checked<Readonly<Record<string, unknown>>> {
  if (result.success) return { ok: true, value: result.data }
  return refuse('TOOL_INPUT_INVALID', `The arguments do not fit ${tool.name}:\n${describeIssues(result.error)}`)
}

function checkThrew(tool: Tool, thrown: unknown): Checked<never> {
  return refuse('TOOL_INPUT_INVALID', `The arguments of ${tool.name} could not be checked: ${messageOfThrown(thrown)}`)
}

function refuse(code: Refusal['code'], message: string): Checked<never> {
  return { ok: false, refusal: { code, message } }
}
