import { setTimeout } from 'node:timers/promises'
import { maxMaskCharacters } from '../../common/json/floats.js'
import type { JsonObject } from '../../common/json/json.js'
import type { StepLimits } from '../../common/run/limits.js'
import type { DescribedStepResult, DescribedCall, RequestedCall, StepResult } from '../../common/session/steps.js'
import { isExternal } from '../../common/json/external-value.js'
import { truncateMiddle, utf8Length } from '../../common/text/text.js'
import { cutRanges } from '../../common/text/text-ranges.js'
import {
  type CallDescription,
  describeCall,
  describeUncheckedCall,
  type UncheckedCall,
} from '../../tools/calls/describe-call.js'
import { countInterruptedChecks, maxCheckMs } from '../../tools/validation/time-limit.js'
import { measureJson } from '../../tools/validation/measure-json.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { yieldToEventLoop } from '../../sandbox/protocol/rate-limiter.js'
import type { Values } from '../../values/values.js'

/** Maximum bytes of the described calls of one result, which keeps the payload under Temporal's 2 MiB. */
const maxCallBytes = 1_400_000

/** Maximum bytes of the recorded arguments of a refused call. */
const maxRefusedArgumentBytes = 4_000

/** Maximum characters of an error. The runner truncates tracebacks to about half of this. */
const maxErrorCharacters = 16_000

export interface DescribeOptions {
  readonly registry: ToolRegistry
  /** True when the run recorded the tools of this registry. */
  readonly registryMatchesRun: boolean
  readonly values: Values
  readonly limits: Pick<StepLimits, 'argumentBytes' | 'callsPerCell'>
  readonly signal: AbortSignal
}

/**
 * Returns the result of a step for the history, with described calls and externalized large values. Stores nothing for
 * a `lost` result.
 *
 * @param outputLimit maximum characters of output
 */
export async function describeStepResult(
  result: StepResult,
  options: DescribeOptions,
  outputLimit: number,
): Promise<DescribedStepResult> {
  const inspected = await inspectStepResult(result, options)
  if (inspected.type === 'lost') return inspected
  const { values, signal } = options
  const printed = truncateMiddle(inspected.output, outputLimit)
  const output = await values.externalize(printed, signal)
  const stderr = cutRanges(inspected.stderr ?? [], outputLimit, inspected.output.length, printed.length)
  const outputFields = {
    output,
    ...(inspected.stderr && { stderr }),
    ...(isExternal(output) && { outputLength: printed.length }),
  }
  if (inspected.type !== 'suspended') return { ...inspected, ...outputFields }
  const calls: DescribedCall[] = []
  const yielder = new Yielder()
  for (const call of inspected.calls) {
    await yielder.yieldIfDue()
    calls.push({ ...call, arguments: await values.externalize(call.arguments, signal) })
  }
  return { ...inspected, calls, ...outputFields }
}

/**
 * Checks and describes each call of a step's result. Stores nothing. A genuine runner enforces the limits itself; the
 * output of a compromised one is truncated, and too many bytes of calls make the result `lost`.
 */
export async function inspectStepResult(result: StepResult, options: DescribeOptions): Promise<InspectedStepResult> {
  switch (result.type) {
    case 'lost':
    case 'completed':
      return result
    case 'failed':
      return { ...result, error: truncateMiddle(result.error, maxErrorCharacters) }
    case 'suspended':
      return describeCalls(limitCalls(result.calls, options), result, options)
  }
}

/** A result with described calls, before arguments and output are externalized. */
type InspectedStepResult = StepResult<DescribedCall>

/** Returns the arguments to record. Only readers need the arguments of a refused call, so larger ones are dropped. */
function visibleArguments({ arguments: args }: UncheckedCall, { refused }: CallDescription): JsonObject {
  return refused === null || measureJson(args, maxRefusedArgumentBytes).type === 'json' ? args : {}
}

/**
 * Shortens a list of calls over the limit per cell. One call over the limit is enough for the workflow to notice, and
 * no arguments are kept.
 */
function limitCalls(calls: readonly RequestedCall[], { limits }: DescribeOptions): readonly RequestedCall[] {
  if (calls.length <= limits.callsPerCell) return calls
  return calls.slice(0, limits.callsPerCell + 1).map((call) => ({ ...call, arguments: {} }))
}

/** After this time the check yields to other work of the thread. */
const yieldAfterMs = 10

/** Yields to the event loop during long loops. */
class Yielder {
  #startedAt = performance.now()

  async yieldIfDue(): Promise<void> {
    if (performance.now() - this.#startedAt <= yieldAfterMs) return
    await yieldToEventLoop()
    this.#startedAt = performance.now()
  }
}

/** Maximum number of checks of one step that may reach the time limit. Later calls are refused. */
const maxSlowChecks = 3

/**
 * The pause after a slow check, as a multiple of its duration: hostile calls get a fifth of the thread that serves all
 * runs.
 */
const pauseFactor = 4

async function describeCalls(
  requested: readonly RequestedCall[],
  result: Extract<StepResult, { type: 'suspended' }>,
  { registry, registryMatchesRun, values, limits, signal }: DescribeOptions,
): Promise<InspectedStepResult> {
  const calls: DescribedCall[] = []
  const yielder = new Yielder()
  let bytes = 0
  let slowChecks = 0
  for (const call of requested) {
    await yielder.yieldIfDue()
    const interruptedBefore = countInterruptedChecks()
    const description =
      slowChecks === maxSlowChecks
        ? describeUncheckedCall(registry, limits, call)
        : describeCall(registry, limits, call, 'code_execution', registryMatchesRun)
    if (countInterruptedChecks() > interruptedBefore) {
      slowChecks += 1
      await setTimeout(maxCheckMs * pauseFactor, undefined, { ref: false, signal })
    }
    const args = visibleArguments(call, description)
    const { floats, ...requestedCall } = call
    const isRemote = registry.get(call.tool)?.remote !== undefined && description.refused === null
    const keepsFloats = isRemote && floats !== undefined && JSON.stringify(floats).length <= maxMaskCharacters
    const described = { ...requestedCall, ...(keepsFloats && { floats }), ...description }
    bytes += utf8Length(JSON.stringify({ ...described, arguments: null })) + values.inlineSize(args)
    if (bytes > maxCallBytes) {
      const reason = `the sandbox made calls of more than ${maxCallBytes} bytes in one step`
      return { type: 'lost', cause: 'protocol', reason }
    }
    calls.push({ ...described, arguments: args })
  }
  return { ...result, calls }
}
