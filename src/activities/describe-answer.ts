import type { JsonObject } from '../common/json.js'
import type { StepLimits } from '../common/limits.js'
import type { DescribedAnswer, DescribedCall, RequestedCall, StepAnswer } from '../common/steps.js'
import { cutMiddle, utf8Length } from '../common/text.js'
import { type CallDescription, describeCall, type MadeCall } from '../tools/describe-call.js'
import type { ToolRegistry } from '../tools/registry.js'
import { isHeldElsewhere } from '../common/values.js'
import type { Values } from '../values/values.js'

/** Bytes of described calls that one answer may carry: it stays under the 2 MiB Temporal takes. */
const callBytes = 1_400_000

/** Characters of arguments that are kept of a call that will not run. */
const refusedCharacters = 4_000

/** The runner cuts its own tracebacks to about half of it. */
const errorCharacters = 16_000

export interface Describing {
  readonly registry: ToolRegistry
  /** Whether the run began with the tools of this registry. */
  readonly isRunsRegistry: boolean
  readonly values: Values
  readonly limits: Pick<StepLimits, 'argumentBytes'>
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
      return withCalls(answer.calls, { ...answer, output }, describing)
  }
}

/** Arguments of a call that is refused are for people only: nothing of it may fill the store. */
async function argumentsOf(
  { arguments: args }: MadeCall,
  { refused }: CallDescription,
  values: Values,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (refused === null || isHeldElsewhere(args)) return values.hold(args, signal)
  return JSON.stringify(args).length > refusedCharacters ? {} : args
}

async function withCalls(
  made: readonly RequestedCall[],
  answer: Omit<Extract<DescribedAnswer, { type: 'suspended' }>, 'calls'>,
  { registry, isRunsRegistry, values, limits, signal }: Describing,
): Promise<DescribedAnswer> {
  const calls: DescribedCall[] = []
  let bytes = 0
  for (const call of made) {
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
