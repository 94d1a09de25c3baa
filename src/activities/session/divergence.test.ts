import { describe, expect, it } from 'vitest'
import type { DescribedCall, RecordedStep, StepResult } from '../../common/session/steps.js'
import { findDivergence } from './divergence.js'

const call = (index: number, digest: string): DescribedCall => ({
  index,
  digest,
  tool: 'get',
  arguments: {},
  summary: `get ${digest}`,
  refused: null,
})
const suspended = (...calls: readonly DescribedCall[]): StepResult<DescribedCall> => ({
  type: 'suspended',
  calls,
  wakeInMs: null,
  output: '',
})
const before: RecordedStep['result'] = {
  type: 'suspended',
  calls: [
    { index: 1, digest: 'a', summary: 'get a' },
    { index: 2, digest: 'b', summary: 'get b' },
  ],
}
const ended: RecordedStep['result'] = { type: 'ended' }

describe('findDivergence', () => {
  it.each<[string, RecordedStep['result'], StepResult<DescribedCall>]>([
    ['the same calls', before, suspended(call(1, 'a'), call(2, 'b'))],
    ['the same end', ended, { type: 'completed', output: '' }],
    ['an end of another kind', ended, { type: 'failed', kind: 'code_error', error: 'x', output: '' }],
  ])('findDivergence returns undefined for %s', (_what, recorded, result) => {
    expect(findDivergence(recorded, result)).toBeUndefined()
  })

  it.each<[string, RecordedStep['result'], StepResult<DescribedCall>, string]>([
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
      'the code ended there before, and now continues to call 1, `get a`',
    ],
    [
      'a difference that is not shown',
      { type: 'suspended', calls: [{ index: 1, digest: 'a', summary: `get ${'x'.repeat(76)}…` }] },
      suspended({ ...call(1, 'b'), summary: `get ${'x'.repeat(90)}` }),
      `call 1, \`get ${'x'.repeat(76)}…\`, has other arguments than before, beyond what is shown here`,
    ],
  ])('findDivergence describes %s', (_what, recorded, result, reason) => {
    expect(findDivergence(recorded, result)).toBe(reason)
  })
})
