import { describe, expect, it } from 'vitest'
import { externalValue } from '../../common/external-value.js'
import type { CellOutcome } from '../../common/outcomes.js'
import { toToolResultText as textOfRun } from './cell-text.js'

function cellText({ output, ...end }: CellOutcome) {
  const { text, isError } = textOfRun({ end, output })
  return { text, isError }
}

describe('cellText', () => {
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
  ])('%j', (outcome, text, isError) => {
    expect(cellText(outcome)).toEqual({ text, isError })
  })

  it('says what is gone after a sandbox was lost or diverged', () => {
    expect(cellText({ status: 'lost', output: '', error: 'exit code 3' }).text).toMatch(
      /^\[lost\] exit code 3\n[^]*earlier cells are there/,
    )
    expect(cellText({ status: 'diverged', output: '', error: 'call 1' }).text).toMatch(
      /^\[diverged\][^]*calls: call 1\.\nAll variables are gone[^]*have happened/,
    )
  })

  it('leaves what is kept elsewhere to whoever sends it, with what went wrong behind it', () => {
    const output = {
      parts: ['a', externalValue({ sha256: 'f'.repeat(64), bytes: 9_000, preview: '"b' })],
      limit: 100,
      suffix: '',
    }
    expect(textOfRun({ end: { status: 'code_error', error: 'KeyError: 1' }, output })).toEqual({
      text: { ...output, suffix: 'KeyError: 1' },
      isError: true,
    })
  })
})
