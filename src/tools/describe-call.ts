import type { Caller } from '../common/calls.js'
import { callDigest } from '../common/call-key.js'
import type { JsonObject } from '../common/json.js'
import type { Limits } from '../common/limits.js'
import type { CallOutcome } from '../common/outcomes.js'
import type { DescribedCall } from '../common/steps.js'
import { checkSize, findTool, parseArgumentsNow } from './check-arguments.js'
import type { Refusal } from './check-arguments.js'
import type { ToolRegistry } from './registry.js'
import { summarizeArguments, summarizeInput } from './summary.js'

/** A call as somebody made it, perhaps with hostile arguments. */
export interface MadeCall {
  readonly tool: string
  readonly arguments: JsonObject
}

export type CallDescription = Pick<DescribedCall, 'summary' | 'digest' | 'refused'>

/**
 * Looks at a call before it is one: what people read of it, its digest, and why it must not run. Never throws, whatever the
 * arguments are. What it lets pass is checked again where the tool runs.
 *
 * @param isRunsRegistry false when the run began with other tools than these: then only what no tool takes is refused here,
 * and the workflow and the worker that runs the tool decide the rest
 */
export function describeCall(
  registry: ToolRegistry,
  limits: Pick<Limits, 'argumentBytes'>,
  call: MadeCall,
  caller: Caller,
  isRunsRegistry = true,
): CallDescription {
  const tooMuch = checkSize(call.arguments, limits)
  // Such arguments may be endless: nothing walks them again. They never run, so one digest for all of them will do.
  if (tooMuch !== undefined) {
    return {
      summary: summarizeArguments(call.tool, {}),
      digest: callDigest(call.tool, { refused: 'arguments' }),
      refused: outcomeOf(tooMuch),
    }
  }
  const digest = callDigest(call.tool, call.arguments)
  const plain = summarizeArguments(call.tool, call.arguments)
  const found = findTool(registry, call.tool, caller)
  if (!found.ok) return { summary: plain, digest, refused: isRunsRegistry ? outcomeOf(found.refusal) : null }
  const input = parseArgumentsNow(found.value, call.arguments)
  if (input === undefined) return { summary: plain, digest, refused: null }
  if (!input.ok) return { summary: plain, digest, refused: isRunsRegistry ? outcomeOf(input.refusal) : null }
  return { summary: summarizeInput(found.value, input.value, call.arguments), digest, refused: null }
}

function outcomeOf({ code, message }: Refusal): CallOutcome {
  return { status: code === 'TOOL_INPUT_INVALID' ? 'invalid_arguments' : 'denied', message }
}
