import { describe, expect, it } from 'vitest'
import { externalValue } from '../../common/json/external-value.js'
import type { CellOutcome } from '../../common/calls/outcomes.js'
import { toToolResultText } from './cell-result.js'

const resultOf = ({ output, ...end }: CellOutcome) => toToolResultText({ end, output })

describe('toToolResultText', () => {
  it.each<[CellOutcome, string, boolean]>([
    [{ status: 'ok', output: '42\n' }, '42', false],
    [{ status: 'ok', output: '' }, '(no output: print what you need to see)', false],
    [{ status: 'ok', output: '  \n' }, '(no output: print what you need to see)', false],
    [{ status: 'code_error', output: 'a\n', error: 'KeyError: 1' }, 'a\nKeyError: 1', true],
    [{ status: 'code_error', output: '', error: 'KeyError: 1' }, 'KeyError: 1', true],
    [{ status: 'timed_out', output: '', error: 'too long', sessionKept: true }, '[timed_out] too long', true],
    [
      { status: 'limit_exceeded', output: 'a', error: 'memory', sessionKept: false },
      'a\n[limit_exceeded] memory\nVariables of this cell are gone; those of earlier cells are there.',
      true,
    ],
  ])('the tool result of the outcome %j', (outcome, text, isError) => {
    expect(resultOf(outcome)).toEqual({ text, isError })
  })

  it('the tool result of a lost sandbox or a divergence names the lost variables', () => {
    expect(resultOf({ status: 'lost', output: '', error: 'exit code 3' }).text).toMatch(
      /^\[lost\] exit code 3\n[^]*earlier cells are there/,
    )
    expect(resultOf({ status: 'diverged', output: '', error: 'call 1' }).text).toMatch(
      /^\[diverged\][^]*calls: call 1\.\nAll variables are gone[^]*have happened/,
    )
  })

  it('the tool result keeps external output as parts, and appends the failure', () => {
    const output = {
      parts: ['a', externalValue({ sha256: 'f'.repeat(64), bytes: 9_000, preview: '"b' })],
      limit: 100,
      suffix: '',
    }
    expect(toToolResultText({ end: { status: 'code_error', error: 'KeyError: 1' }, output })).toEqual({
      text: { ...output, suffix: 'KeyError: 1' },
      isError: true,
    })
  })
})
