import { z } from 'zod'
import { PtcError } from '../common/errors.js'
import type { JsonValue } from '../common/json.js'
import type { Limits } from '../common/limits.js'
import { describeIssues } from './issues.js'
import { measureJson } from './plain-json.js'
import type { JsonMeasure } from './plain-json.js'
import { messageOfThrown } from './thrown.js'
import type { Tool } from './tool.js'

/** Sizes up to here are told exactly, when the limit is smaller; of a larger value no more is looked at than the limit. */
const countedBytes = 64 * 1024 * 1024

/**
 * What a tool returned, as the caller gets it: through the output schema, and then plain JSON exactly as it stands. Of what JSON
 * can't carry, only an undefined member of an object is let through, as absent; everything else is an error, never mangled.
 *
 * @throws PtcError TOOL_OUTPUT_INVALID, TOOL_RESULT_TOO_LARGE
 */
export async function checkOutput(tool: Tool, returned: unknown, limits: Limits): Promise<JsonValue> {
  const value = await parseOutput(tool, returned, limits)
  const measured = measure(tool, value, countTo(limits))
  if (measured.type === 'not_json') throw notJson(tool, measured)
  if (measured.type === 'endless' || measured.bytes > limits.resultBytes) throw tooLarge(tool, measured, limits)
  // Rarely needed, so a result is copied only then.
  return (measured.hasUndefined ? JSON.parse(JSON.stringify(value)) : value) as JsonValue
}

async function parseOutput(tool: Tool, returned: unknown, limits: Limits): Promise<unknown> {
  let result
  try {
    result = await z.safeParseAsync(tool.output, returned)
  } catch (thrown) {
    // A value that contains itself takes a recursive schema to the end of the stack.
    const measured = measure(tool, returned, countTo(limits))
    if (measured.type === 'not_json') throw notJson(tool, measured)
    throw invalid(tool, `could not be checked: ${messageOfThrown(thrown)}`)
  }
  if (result.success) return result.data
  const measured = measure(tool, returned, countTo(limits))
  const remedy = measured.type === 'not_json' ? measured.remedy : undefined
  throw invalid(tool, `does not fit its output schema:\n${describeIssues(result.error)}`, remedy)
}

function countTo({ resultBytes }: Limits): number {
  return Math.max(resultBytes, countedBytes)
}

/** A getter or a proxy in the value runs the tool's code once more: it may throw. */
function measure(tool: Tool, value: unknown, countTo: number): JsonMeasure {
  try {
    return measureJson(value, countTo)
  } catch (thrown) {
    throw invalid(tool, `could not be read: ${messageOfThrown(thrown)}`)
  }
}

function notJson(tool: Tool, { path, reason, remedy }: Extract<JsonMeasure, { readonly type: 'not_json' }>): PtcError {
  return invalid(tool, `is not JSON${path === '' ? '' : ` at ${path}`}: ${reason}`, remedy)
}

function invalid(tool: Tool, problem: string, remedy?: string): PtcError {
  const message = `the result of ${tool.name} ${problem}`
  return new PtcError('TOOL_OUTPUT_INVALID', message, remedy === undefined ? {} : { hint: remedy })
}

function tooLarge(tool: Tool, measured: Exclude<JsonMeasure, { readonly type: 'not_json' }>, limits: Limits): PtcError {
  const size = measured.type === 'json' ? `${measured.bytes} bytes` : `more than ${countTo(limits)} bytes`
  return new PtcError(
    'TOOL_RESULT_TOO_LARGE',
    `the result of ${tool.name} has ${size}; the limit is ${limits.resultBytes}`,
    {
      hint: 'Return less: fewer fields, a filter, or pages. Or raise limits.resultBytes.',
    },
  )
}
