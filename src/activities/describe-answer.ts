import type { Limits } from '../common/limits.js'
import type { DescribedCall, StepAnswer } from '../common/steps.js'
import { cutMiddle, utf8Length } from '../common/text.js'
import { describeCall } from '../tools/describe-call.js'
import type { ToolRegistry } from '../tools/registry.js'

/** Bytes of described calls that one answer may carry: with its output it stays under the 2 MiB Temporal takes. */
const callBytes = 1_400_000

/** Bytes of output in one answer, as JSON, whatever the limits say. */
const outputBytes = 650_000

/** The runner cuts its own tracebacks to about half of it. */
const errorCharacters = 16_000

/**
 * The answer of a sandbox as Temporal is to carry it, each call looked at. An honest runner stays within the limits by itself;
 * what a forged one says too much of is cut, and too many calls are the end of it.
 *
 * @param outputRoom characters of output the answer may carry
 */
export function describeAnswer(
  answer: StepAnswer,
  registry: ToolRegistry,
  limits: Limits,
  outputRoom: number,
): StepAnswer<DescribedCall> {
  if (answer.type === 'lost') return answer
  const output = fitOutput(answer.output, outputRoom)
  switch (answer.type) {
    case 'completed':
      return { ...answer, output }
    case 'failed':
      return { ...answer, output, error: cutMiddle(answer.error, errorCharacters) }
    case 'suspended':
      return withCalls({ ...answer, output }, registry, limits)
  }
}

function fitOutput(text: string, room: number): string {
  let fitting = cutMiddle(text, room)
  for (let limit = Math.min(room, text.length); utf8Length(JSON.stringify(fitting)) > outputBytes;) {
    limit = Math.floor(limit * 0.8)
    fitting = cutMiddle(text, limit)
  }
  return fitting
}

function withCalls(
  answer: Extract<StepAnswer, { type: 'suspended' }>,
  registry: ToolRegistry,
  limits: Limits,
): StepAnswer<DescribedCall> {
  const calls: DescribedCall[] = []
  let bytes = 0
  for (const call of answer.calls) {
    const described = { ...call, ...describeCall(registry, limits, call, 'code_execution') }
    bytes += utf8Length(JSON.stringify(described))
    if (bytes > callBytes) {
      const reason = `the sandbox made calls of more than ${callBytes} bytes in one step`
      return { type: 'lost', cause: 'protocol', reason }
    }
    calls.push(described)
  }
  return { ...answer, calls }
}
