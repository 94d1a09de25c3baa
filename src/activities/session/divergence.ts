import type { DescribedStepResult, DescribedCall, RecordedCall, RecordedStep } from '../../common/session/steps.js'
import { truncateEnd, pluralize } from '../../common/text/text.js'

/** Maximum characters of a call in a message. */
const maxShownCharacters = 80

/** Describes for the model how a repeated step differs from its recorded result; undefined if it does not differ. */
export function findDivergence(recorded: RecordedStep['result'], result: DescribedStepResult): string | undefined {
  if (recorded.type === 'ended') {
    return result.type === 'suspended'
      ? `the code ended there before, and now ${describeContinuation(result.calls)}`
      : undefined
  }
  if (result.type !== 'suspended') return `${describeRecorded(recorded.calls)} before, and now ${describeEnd(result)}`
  for (const [position, call] of result.calls.entries()) {
    const before = recorded.calls[position]
    if (before?.index !== call.index || before.digest !== call.digest) return describeDifferentCall(before, call)
  }
  const missing = recorded.calls[result.calls.length]
  return missing && `${describeRecordedCall(missing)}, was made before, and now is not`
}

function describeDifferentCall(recorded: RecordedCall | undefined, call: DescribedCall): string {
  const now = inlineCode(call.summary)
  if (recorded === undefined) return `${describeRecordedCall(call)}, was not made before, and now is`
  const was = inlineCode(recorded.summary)
  if (recorded.digest === call.digest) return `call ${call.index}, ${now}, was call ${recorded.index} before`
  if (was === now) return `call ${call.index}, ${now}, has other arguments than before, beyond what is shown here`
  return `call ${recorded.index} was ${was} before, and now is ${now}`
}

function describeContinuation([first]: readonly DescribedCall[]): string {
  return first ? `continues to ${describeRecordedCall(first)}` : 'waits'
}

function describeRecorded(calls: readonly RecordedCall[]): string {
  return calls.length === 0 ? 'the code waited' : `the code made ${pluralize(calls.length, 'call')}`
}

function describeEnd(result: Exclude<DescribedStepResult, { type: 'suspended' }>): string {
  if (result.type !== 'failed') return 'ends there'
  return `fails there: ${truncateEnd(result.error.trimEnd().split('\n').at(-1) ?? '', 2 * maxShownCharacters)}`
}

function describeRecordedCall({ index, summary }: RecordedCall): string {
  return `call ${index}, ${inlineCode(summary)}`
}

function inlineCode(summary: string): string {
  return `\`${truncateEnd(summary, maxShownCharacters)}\``
}
