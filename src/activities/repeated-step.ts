import type { DescribedAnswer, RecordedStep } from '../common/steps.js'

/** How a repeated step differs from its record, in words for the model; undefined when it does not. */
export function difference(recorded: RecordedStep['answer'], answer: DescribedAnswer): string | undefined {
  if (recorded.type === 'ended') {
    return answer.type === 'suspended' ? 'the code ended before, and now waits' : undefined
  }
  if (answer.type !== 'suspended') return `the code waited for ${recorded.calls.length} calls before, and now ended`
  if (answer.calls.length !== recorded.calls.length) {
    return `the code made ${recorded.calls.length} calls before, and now ${answer.calls.length}`
  }
  for (const [position, call] of answer.calls.entries()) {
    const before = recorded.calls[position]
    if (before?.index !== call.index || before.digest !== call.digest) {
      return `call ${call.index} is now ${call.summary}, which is not what it was`
    }
  }
  return undefined
}
