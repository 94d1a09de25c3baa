import type { z } from 'zod'
import { rejectOnUncaught } from '../../common/async/uncaught-errors.js'
import { PtcError } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import type { Limits } from '../../common/run/limits.js'
import { measureJson } from './measure-json.js'
import type { JsonMeasure } from './measure-json.js'
import { parseValue } from './parse-value.js'
import { describeThrown } from '../calls/thrown.js'

/** Values up to this size are measured exactly for the error message, even if the limit is smaller. */
const maxCountedBytes = 64 * 1024 * 1024

/** A result may be much larger than arguments, and a schema may transform it. */
const maxResultCheckMs = 1_000

type ResultLimits = Pick<Limits, 'resultBytes'>

/** What a tool declares about its result. */
interface OutputDeclaration {
  readonly name: string
  readonly output: z.ZodType
}

/**
 * The result of a tool in the form for its caller: parsed by the output schema, and then plain JSON. Undefined members
 * of objects are left out. Any other value that JSON can't represent is an error.
 *
 * @throws PtcError TOOL_OUTPUT_INVALID, TOOL_RESULT_TOO_LARGE
 */
export async function checkOutput(
  tool: OutputDeclaration,
  returned: unknown,
  limits: ResultLimits,
): Promise<JsonValue> {
  const value = await parseOutput(tool, returned, limits)
  const measured = measure(tool, value, measureLimit(limits))
  if (measured.type === 'not_json') throw notJson(tool, measured)
  if (measured.type === 'too_large' || measured.bytes > limits.resultBytes) throw tooLarge(tool, measured, limits)
  // A result is copied only if it has undefined members, which is rare.
  return (measured.hasUndefined ? JSON.parse(JSON.stringify(value)) : value) as JsonValue
}

async function parseOutput(tool: OutputDeclaration, returned: unknown, limits: ResultLimits): Promise<unknown> {
  let result
  try {
    const work = { name: `the output schema of ${tool.name}` }
    result = await rejectOnUncaught(work, () => parseValue(tool.output, returned, maxResultCheckMs))
  } catch (thrown) {
    // A value that contains itself overflows the stack of a recursive schema.
    const measured = measure(tool, returned, measureLimit(limits))
    if (measured.type === 'not_json') throw notJson(tool, measured)
    throw invalid(tool, `could not be checked: ${describeThrown(thrown)}`)
  }
  if (result.ok) return result.value
  const measured = measure(tool, returned, measureLimit(limits))
  const remedy = measured.type === 'not_json' ? measured.remedy : undefined
  throw invalid(tool, `does not fit its output schema:\n${result.issues}`, remedy)
}

function measureLimit({ resultBytes }: ResultLimits): number {
  return Math.max(resultBytes, maxCountedBytes)
}

/** A getter or a proxy in the value runs code of the tool, which may throw. */
function measure(tool: OutputDeclaration, value: unknown, maxBytes: number): JsonMeasure {
  try {
    return measureJson(value, maxBytes)
  } catch (thrown) {
    throw invalid(tool, `could not be read: ${describeThrown(thrown)}`)
  }
}

function notJson(
  tool: OutputDeclaration,
  { path, reason, remedy }: Extract<JsonMeasure, { readonly type: 'not_json' }>,
): PtcError {
  return invalid(tool, `is not JSON${path === '' ? '' : ` at ${path}`}: ${reason}`, remedy)
}

function invalid(tool: OutputDeclaration, problem: string, remedy?: string): PtcError {
  const message = `the result of ${tool.name} ${problem}`
  return new PtcError('TOOL_OUTPUT_INVALID', message, remedy === undefined ? {} : { hint: remedy })
}

function tooLarge(
  tool: OutputDeclaration,
  measured: Exclude<JsonMeasure, { readonly type: 'not_json' }>,
  limits: ResultLimits,
): PtcError {
  const size = measured.type === 'json' ? `${measured.bytes} bytes` : `more than ${measureLimit(limits)} bytes`
  return new PtcError(
    'TOOL_RESULT_TOO_LARGE',
    `the result of ${tool.name} has ${size}; the limit is ${limits.resultBytes}`,
    {
      hint: 'Return less: fewer fields, a filter, or pages. Or raise limits.resultBytes.',
    },
  )
}
