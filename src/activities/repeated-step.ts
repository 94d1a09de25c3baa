import type { DescribedAnswer, DescribedCall, RecordedCall, RecordedStep } from '../common/steps.js'
import { beginning, plural } from '../common/text.js'

/** Characters of a call that are told. */
const toldCharacters = 80

/** How a repeated step differs from its record, in words for the model; undefined when it does not. */
export function difference(recorded: RecordedStep['answer'], answer: DescribedAnswer): string | undefined {
  if (recorded.type === 'ended') {
    return answer.type === 'suspended' ? `the code ended there before, and now ${goesOn(answer.calls)}` : undefined
  }
  if (answer.type !== 'suspended') return `${waited(recorded.calls)} before, and now ${ended(answer)}`
  for (const [position, call] of answer.calls.entries()) {
    const before = recorded.calls[position]
    if (before?.index !== call.index || before.digest !== call.digest) return another(before, call)
  }
  const missing = recorded.calls[answer.calls.length]
  return missing && `${described(missing)}, was made before, and now is not`
}

function another(before: RecordedCall | undefined, call: DescribedCall): string {
  const now = quoted(call.summary)
  if (before === undefined) return `${described(call)}, was not made before, and now is`
  if (before.summary === undefined) return `call ${call.index} is now ${now}, which is not what it was`
  const was = quoted(before.summary)
  if (before.digest === call.digest) return `call ${call.index}, ${now}, was call ${before.index} before`
  if (was === now) return `call ${call.index}, ${now}, has other arguments than before, beyond what is shown here`
  return `call ${before.index} was ${was} before, and now is ${now}`
}

function goesOn([first]: readonly DescribedCall[]): string {
  return first ? `goes on to ${described(first)}` : 'waits'
}

function waited(calls: readonly RecordedCall[]): string {
  return calls.length === 0 ? 'the code waited' : `the code made ${plural(calls.length, 'call')}`
}

function ended(answer: Exclude<DescribedAnswer, { type: 'suspended' }>): string {
  if (answer.type !== 'failed') return 'ends there'
  return `fails there: ${beginning(answer.error.trimEnd().split('\n').at(-1) ?? '', 2 * toldCharacters)}`
}

function described({ index, summary }: RecordedCall): string {
  return summary === undefined ? `call ${index}` : `call ${index}, ${quoted(summary)}`
}

function quoted(summary: string): string {
  return `\`${beginning(summary, toldCharacters)}\``
}
