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
 * The answer of a sandbox as Temporal is to carry it. What is large goes into the value store; of an answer that is `lost`
 * nothing does.
 *
 * @param outputRoom characters of output the answer may carry
 */
export async function describeAnswer(
  answer: StepAnswer,
  describing: Describing,
  outputRoom: number,
): Promise<DescribedAnswer> {
  const looked = await lookAtAnswer(answer, describing)
  if (looked.type === 'lost') return looked
  const { values, signal } = describing
  const output = await values.hold(cutMiddle(looked.output, outputRoom), signal)
  if (looked.type !== 'suspended') return { ...looked, output }
  const calls: DescribedCall[] = []
  const turns = new Turns()
  for (const call of looked.calls) {
    await turns.next()
    calls.push({ ...call, arguments: await heldArguments(call, values, signal) })
  }
  return { ...looked, calls, output }
}

/**
 * Looks at each call of an answer, and stores nothing. An honest runner stays within the limits by itself; what a
 * forged one says too much of is cut, and too many calls are the end of it.
 */
export async function lookAtAnswer(answer: StepAnswer, describing: Describing): Promise<LookedAtAnswer> {
  switch (answer.type) {
    case 'lost':
    case 'completed':
      return answer
    case 'failed':
      return { ...answer, error: cutMiddle(answer.error, errorCharacters) }
    case 'suspended':
      return withCalls(countedCalls(answer.calls, describing), answer, describing)
  }
}

/** Arguments and output are as the sandbox said them. */
type LookedAtAnswer = StepAnswer<DescribedCall>

/** Arguments of a call that is refused are for people only: nothing of it may fill the store, or be walked without end. */
function shownArguments({ arguments: args }: MadeCall, { refused }: CallDescription): JsonObject {
  return refused === null || measureJson(args, refusedBytes).type === 'json' ? args : {}
}

/** As they may enter a history; those of a refused call are small, but may look like a reference. */
async function heldArguments(
  { arguments: args, refused }: DescribedCall,
  values: Values,
  signal: AbortSignal,
): Promise<JsonObject> {
  return refused === null || isHeldElsewhere(args) ? values.hold(args, signal) : args
}

/** More calls than a cell may make: one too many tells the workflow so, and nothing of them is looked at or kept. */
function countedCalls(calls: readonly RequestedCall[], { limits }: Describing): readonly RequestedCall[] {
  if (calls.length <= limits.callsPerCell) return calls
  return calls.slice(0, limits.callsPerCell + 1).map((call) => ({ ...call, arguments: {} }))
}

/** Milliseconds of looking at calls after which other work of this thread comes first. */
const turnMs = 10

/** Lets other work of this thread in between pieces of work. */
class Turns {
  #begun = performance.now()

  async next(): Promise<void> {
    if (performance.now() - this.#begun <= turnMs) return
    await ownTurn()
    this.#begun = performance.now()
  }
}

async function withCalls(
  made: readonly RequestedCall[],
  answer: Extract<StepAnswer, { type: 'suspended' }>,
  { registry, isRunsRegistry, values, limits }: Describing,
): Promise<LookedAtAnswer> {
  const calls: DescribedCall[] = []
  const turns = new Turns()
  let bytes = 0
  for (const call of made) {
    await turns.next()
    const description = describeCall(registry, limits, call, 'code_execution', isRunsRegistry)
    const args = shownArguments(call, description)
    bytes += utf8Length(JSON.stringify({ ...call, arguments: null, ...description })) + values.heldBytes(args)
    if (bytes > callBytes) {
      const reason = `the sandbox made calls of more than ${callBytes} bytes in one step`
      return { type: 'lost', cause: 'protocol', reason }
    }
    calls.push({ ...call, arguments: args, ...description })
  }
  return { ...answer, calls }
}
