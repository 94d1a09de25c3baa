import assert from 'node:assert/strict'
import { expectError, expectResult } from '../expectations.js'
import { type Behavior, type Behaviors, inSession } from './behavior.js'

const checked = { checked: true } as const
/** After a cell that was not checked, no cell is. */
const isFresh = { isFresh: true } as const

/** Cells that are checked for mistakes before they run. */
export const checkBehaviors = {
  'a cell with certain mistakes has no effect, and names each one with its line': inSession(
    async (harness, [source = '']) => {
      const { finalResult, output, calls } = await harness.runCell(source, undefined, checked)
      const error = expectError(finalResult, 'The code was checked before it ran')
      const findings = [
        /^line 2: .*gett.* is not defined\. Did you mean the tool get\(\)\?$/,
        /^line 3: .*get\(\) is missing ["']a["']/,
        /^line 4: get\(\) is called but (never|not) awaited: write `await get\(\.\.\.\)`\.$/,
        /^line 5: .*unknown.* is not defined/,
      ]
      const lines = error.split('\n').slice(1)
      for (const [index, finding] of findings.entries()) assert.match(lines[index] ?? '', finding)
      assert.equal(lines.length, findings.length)
      assert.deepEqual([output, calls], ['', []])
    },
    isFresh,
  ),
  'the check knows what earlier cells have defined': completesChecked('1\n'),
  'the check reports no mistake on a path that may not be taken': completesChecked('ran\n'),
  'a cell that is not to be checked runs up to its mistake': inSession(async (harness, [source = '']) => {
    const { finalResult, output } = await harness.runCell(source)
    expectError(finalResult, /unknown/)
    assert.equal(output, 'ran\n')
  }),
} satisfies Behaviors

/** The cells complete with the check, and print this text together. */
function completesChecked(expected: string): Behavior {
  return inSession(async (harness, cells) => {
    let printed = ''
    for (const cell of cells) {
      const { output, finalResult } = await harness.runCell(cell, undefined, checked)
      expectResult(finalResult, 'completed')
      printed += output
    }
    assert.equal(printed, expected)
  }, isFresh)
}
