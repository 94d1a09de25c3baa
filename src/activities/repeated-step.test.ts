import { describe, expect, it } from 'vitest'
import type { DescribedCall, RecordedStep, StepAnswer } from '../common/steps.js'
import { difference } from './repeated-step.js'

const call = (index: number, digest: string): DescribedCall => ({
  index,
  digest,
  tool: 'get',
  arguments: {},
  summary: `get ${digest}`,
  refused: null,
})
const suspended = (...calls: readonly DescribedCall[]): StepAnswer<DescribedCall> => ({
  type: 'suspended',
  calls,
  wakeInMs: null,
  output: '',
})
const before: RecordedStep['answer'] = {
  type: 'suspended',
  calls: [
    { index: 1, digest: 'a' },
    { index: 2, digest: 'b' },
  ],
}
const ended: RecordedStep['answer'] = { type: 'ended' }

describe('difference', () => {
  it.each<[string, RecordedStep['answer'], StepAnswer<DescribedCall>]>([
    ['the same calls', before, suspended(call(1, 'a'), call(2, 'b'))],
    ['the same end', ended, { type: 'completed', output: '' }],
    ['an end of another kind', ended, { type: 'failed', kind: 'code_error', error: 'x', output: '' }],
  ])('there is none: %s', (_what, recorded, answer) => {
    expect(difference(recorded, answer)).toBeUndefined()
  })

  it.each<[string, RecordedStep['answer'], StepAnswer<DescribedCall>, string]>([
    ['other arguments', before, suspended(call(1, 'a'), call(2, 'c')), 'call 2 is now get c, which is not what it was'],
    ['another order', before, suspended(call(1, 'b'), call(2, 'a')), 'call 1 is now get b, which is not what it was'],
    ['other numbers', before, suspended(call(1, 'a'), call(3, 'b')), 'call 3 is now get b, which is not what it was'],
    ['fewer calls', before, suspended(call(1, 'a')), 'the code made 2 calls before, and now 1'],
    ['an early end', before, { type: 'completed', output: '' }, 'the code waited for 2 calls before, and now ended'],
    ['no end', ended, suspended(), 'the code ended before, and now waits'],
  ])('is told: %s', (_what, recorded, answer, reason) => {
    expect(difference(recorded, answer)).toBe(reason)
  })
})
