import type { JsonObject } from '../common/json.js'
import type { StepLimits } from '../common/limits.js'
import type { DescribedAnswer, DescribedCall, RequestedCall, StepAnswer } from '../common/steps.js'
import { cutMiddle, utf8Length } from '../common/text.js'
import { type CallDescription, describeCall, type MadeCall } from '../tools/describe-call.js'
import { measureJson } from '../tools/plain-json.js'
import type { ToolRegistry } from '../tools/registry.js'
import { ownTurn } from '../sandbox/protocol/pace.js'
import { isHeldElsewhere } from '../common/values.js'
import type { Values } from '../values/values.js'

/** Bytes of described calls that one answer may carry: it stays under the 2 MiB Temporal takes. */
const callBytes = 1_400_000

/** Bytes of arguments that are kept of a call that will not run. */
const refusedBytes = 4_000

/** The runner cuts its own tracebacks to about half of it. */
const errorCharacters = 16_000

export interface Describing {
  readonly registry: ToolRegistry
  /** Whether the run began with the tools of this registry. */
  readonly isRunsRegistry: boolean
  readonly values: Values
  readonly limits: Pick<StepLimits, 'argumentBytes' | 'callsPerCell'>
  readonly signal: AbortSignal
}

/**
 * The answer of a sandbox as Temporal is to carry it, each call looked at. An honest runner stays within the limits by itself;
 * what a forged one says too much of is cut, and too many calls are the end of it.
 *
 * @param outputRoom characters of output the answer may carry
 */
export async function describeAnswer(
  answer: StepAnswer,
  describing: Describing,
  outputRoom: number,
): Promise<DescribedAnswer> {
  if (answer.type === 'lost') return answer
  const output = await describing.values.hold(cutMiddle(answer.output, outputRoom), describing.signal)
  switch (answer.type) {
    case 'completed':
      return { ...answer, output }
    case 'failed':
      return { ...answer, output, error: cutMiddle(answer.error, errorCharacters) }
    case 'suspended':
      return withCalls(countedCalls(answer.calls, describing), { ...answer, output }, describing)
  }
}

/** Arguments of a call that is refused are for people only: nothing of it may fill the store, or be walked without end. */
async function argumentsOf(
  { arguments: args }: MadeCall,
  { refused }: CallDescription,
  values: Values,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (refused === null) return values.hold(args, signal)
  if (measureJson(args, refusedBytes).type !== 'json') return {}
  return isHeldElsewhere(args) ? values.hold(args, signal) : args
}

/** More calls than a cell may make: one too many tells the workflow so, and nothing of them is looked at or kept. */
function countedCalls(calls: readonly RequestedCall[], { limits }: Describing): readonly RequestedCall[] {
  if (calls.length <= limits.callsPerCell) return calls
  return calls.slice(0, limits.callsPerCell + 1).map((call) => ({ ...call, arguments: {} }))
}

/** Milliseconds of looking at calls after which other work of this thread comes first. */
const turnMs = 10

async function withCalls(
  made: readonly RequestedCall[],
  answer: Omit<Extract<DescribedAnswer, { type: 'suspended' }>, 'calls'>,
  { registry, isRunsRegistry, values, limits, signal }: Describing,
): Promise<DescribedAnswer> {
  const calls: DescribedCall[] = []
  let bytes = 0
  let begun = performance.now()
  for (const call of made) {
    if (performance.now() - begun > turnMs) {
      await ownTurn()
      begun = performance.now()
    }
    const description = describeCall(registry, limits, call, 'code_execution', isRunsRegistry)
    const described = { ...call, arguments: await argumentsOf(call, description, values, signal), ...description }
    bytes += utf8Length(JSON.stringify(described))
    if (bytes > callBytes) {
      const reason = `the sandbox made calls of more than ${callBytes} bytes in one step`
      return { type: 'lost', cause: 'protocol', reason }
    }
    calls.push(described)
  }
  return { ...answer, calls }
}
