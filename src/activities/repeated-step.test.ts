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
    { index: 1, digest: 'a', summary: 'get a' },
    { index: 2, digest: 'b', summary: 'get b' },
  ],
}
const unnamed: RecordedStep['answer'] = { type: 'suspended', calls: [{ index: 1, digest: 'a' }] }
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
    ['other arguments', before, suspended(call(1, 'a'), call(2, 'c')), 'call 2 was `get b` before, and now is `get c`'],
    ['another order', before, suspended(call(1, 'b'), call(2, 'a')), 'call 1 was `get a` before, and now is `get b`'],
    ['other numbers', before, suspended(call(1, 'a'), call(3, 'b')), 'call 3, `get b`, was call 2 before'],
    ['fewer calls', before, suspended(call(1, 'a')), 'call 2, `get b`, was made before, and now is not'],
    [
      'more calls',
      before,
      suspended(call(1, 'a'), call(2, 'b'), call(3, 'c')),
      'call 3, `get c`, was not made before, and now is',
    ],
    ['an early end', before, { type: 'completed', output: '' }, 'the code made 2 calls before, and now ends there'],
    [
      'an error',
      before,
      { type: 'failed', kind: 'code_error', error: 'Traceback\nKeyError: 1\n', output: '' },
      'the code made 2 calls before, and now fails there: KeyError: 1',
    ],
    ['no end', ended, suspended(), 'the code ended there before, and now waits'],
    [
      'a call after the end',
      ended,
      suspended(call(1, 'a')),
      'the code ended there before, and now goes on to call 1, `get a`',
    ],
    ['an old record', unnamed, suspended(call(1, 'b')), 'call 1 is now `get b`, which is not what it was'],
    ['an old record', unnamed, { type: 'completed', output: '' }, 'the code made 1 call before, and now ends there'],
    [
      'a difference that is not shown',
      { type: 'suspended', calls: [{ index: 1, digest: 'a', summary: `get ${'x'.repeat(76)}…` }] },
      suspended({ ...call(1, 'b'), summary: `get ${'x'.repeat(90)}` }),
      `call 1, \`get ${'x'.repeat(76)}…\`, has other arguments than before, beyond what is shown here`,
    ],
  ])('is told: %s', (_what, recorded, answer, reason) => {
    expect(difference(recorded, answer)).toBe(reason)
  })
})
