import type { Caller } from '../../common/calls/calls.js'
import { runWork } from '../../common/async/uncaught-errors.js'
import { callDigest, digestJson } from '../../common/calls/call-identity.js'
import type { JsonObject } from '../../common/json/json.js'
import type { Limits } from '../../common/run/limits.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { takeStart } from '../../common/text/text.js'
import { checkSize, findTool, parseArgumentsNow } from '../validation/check-arguments.js'
import type { Refusal } from '../validation/check-arguments.js'
import { measureJson } from '../validation/measure-json.js'
import type { ToolRegistry } from '../registry.js'
import { summarizeCall } from './summary.js'

/** A requested call. Its arguments may be hostile. */
export interface UncheckedCall {
  readonly tool: string
  readonly arguments: JsonObject
}

export type CallDescription = Pick<DescribedCall, 'summary' | 'digest' | 'refused' | 'isParsed'>

/**
 * Describes a call before it is scheduled: its summary, its digest, and why it must not run. Never throws. `runTool`
 * checks the call again.
 *
 * @param registryMatchesRun false when the run recorded other tools: then this function refuses only arguments that no
 *   tool accepts. The workflow and the worker that runs the tool decide everything else.
 */
export function describeCall(
  registry: ToolRegistry,
  limits: Pick<Limits, 'argumentBytes'>,
  call: UncheckedCall,
  caller: Caller,
  registryMatchesRun: boolean,
): CallDescription {
  // An asynchronous check or summary of the tool may reject later. No result depends on it.
  const work = { name: `a check or summary of ${takeStart(call.tool, 100)}`, fail: () => false }
  return runWork(work, () => {
    const sizeRefusal = checkSize(call.arguments, limits)
    if (sizeRefusal !== undefined) return describeUnread(registry, call.tool, toOutcome(sizeRefusal))
    const digest = callDigest(call.tool, call.arguments)
    const found = findTool(registry, call.tool, caller)
    const input = found.ok ? parseArgumentsNow(found.value, call.arguments) : found
    const refused = input?.ok === false && registryMatchesRun ? toOutcome(input.refusal) : null
    const valid = found.ok && input?.ok ? { tool: found.value, input: input.value } : undefined
    const summary = summarizeCall(registry, call, valid)
    const isParsed = valid?.tool.remote !== undefined && registryMatchesRun && isUnchanged(valid.input, call.arguments)
    return { summary, digest, refused, ...(isParsed && { isParsed }) }
  })
}

/**
 * Describes a call without checking its arguments, after too many slow checks. The digest is that of a checked call,
 * because a rebuild may have time for the check.
 */
export function describeUncheckedCall(
  registry: ToolRegistry,
  limits: Pick<Limits, 'argumentBytes'>,
  { tool, arguments: args }: UncheckedCall,
): CallDescription {
  const message = `The calls that the code made together with this call of ${takeStart(tool, 100)} took too long to check.`
  const unread = describeUnread(registry, tool, { status: 'invalid_arguments', message })
  return checkSize(args, limits) === undefined ? { ...unread, digest: callDigest(tool, args) } : unread
}

/**
 * Describes a call without traversing its arguments, which may be huge. The call never runs, so its digest may be a
 * constant.
 */
function describeUnread(registry: ToolRegistry, tool: string, refused: CallOutcome): CallDescription {
  const summary = summarizeCall(registry, { tool, arguments: {} })
  return { summary, digest: callDigest(tool, { refused: 'arguments' }), refused }
}

/** False when the schema has added a default, or transformed an argument. */
function isUnchanged(parsed: Readonly<Record<string, unknown>>, args: JsonObject): boolean {
  const measured = measureJson(parsed, Infinity)
  return measured.type === 'json' && !measured.hasUndefined && digestJson(parsed as JsonObject) === digestJson(args)
}

function toOutcome({ code, message }: Refusal): CallOutcome {
  return { status: code === 'TOOL_INPUT_INVALID' ? 'invalid_arguments' : 'denied', message }
}
