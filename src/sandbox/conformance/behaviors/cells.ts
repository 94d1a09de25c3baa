import assert from 'node:assert/strict'
import { capturedCharacters } from '../../../common/run/limits.js'
import type { Externalizable } from '../../../common/json/external-value.js'
import { expectError, expectNear, expectResult } from '../expectations.js'
import { type Behaviors, fails, inSession, prints } from './behavior.js'

/** Cells that run one after the other in one session: state, errors, ends. */
export const cellBehaviors = {
  'variables, functions and classes stay from cell to cell': prints('84 7\n'),
  'a name can be declared again, and earlier functions see the new value': prints('1 2 text\n'),
  'what code has assigned before an error stays': inSession(async (harness, [first = '', second = '']) => {
    expectResult((await harness.runCell(first)).finalResult, 'failed')
    assert.equal((await harness.runCell(second)).output, '1 new\n')
  }),
  'the input of the run is a variable, which code can change': inSession(
    async (harness, [change = '', show = '', count = '']) => {
      const run = (source: string, inputData: Externalizable) => {
        harness.cell += 1
        return harness.executeStep({ type: 'cell', cell: harness.cell, source, inputData })
      }
      assert.equal(expectResult(await run(change, { n: 1 }), 'completed').output, '2\n')
      assert.equal((await harness.runCell(show)).output, '2\n')
      const large = harness.storeValue(Array.from({ length: 50_000 }, (_, id) => id))
      assert.equal(expectResult(await run(count, large), 'completed').output, '50000\n')
    },
  ),
  'the source of a cell can be a value by reference, also the one that is its input': inSession(
    async (harness, [source = '']) => {
      harness.cell += 1
      const value = harness.storeValue(source)
      const cell = { type: 'cell' as const, cell: harness.cell, source: value, inputData: value }
      assert.equal(expectResult(await harness.executeStep(cell), 'completed').output, `${source.length}\n`)
    },
  ),
  'an error has its type, its message, and lines of cells only': inSession(async (harness, [first = '', last = '']) => {
    await harness.runCell(first)
    const error = expectError((await harness.runCell(last)).finalResult, /TypeError: not this/)
    assert.match(error, new RegExp(`cell[ -]${harness.cell - 1}\\b.*2\\b`))
    assert.match(error, new RegExp(`cell[ -]${harness.cell}\\b.*3\\b`))
    assert.doesNotMatch(error, /runner|node:|asyncio|ptc/)
  }),
  'an error has its cause': fails(/outer[^]*inner|inner[^]*outer/),
  'a syntax error has its line, and nothing of the cell runs': inSession(async (harness, [source = '']) => {
    const { finalResult, output } = await harness.runCell(source)
    assert.match(expectError(finalResult, 'SyntaxError'), /\b2\b/)
    assert.equal(output, '')
  }),
  'an error in work that nothing awaits fails the cell': fails('Error: lost'),
  'an exit ends the cell, and the session stays': prints('bye\nstill\n'),
  'an exit with a code fails the cell': fails(/exit.*3/i),
  'code can replace functions that the runner uses too': prints('5 6\n', { isFresh: true }),
  'characters of every kind can be in code': prints('漢字 😀 é\n'),
} satisfies Behaviors

/** What code prints. */
export const outputBehaviors = {
  'standard output and standard error keep their order': prints('1\n2\n3\n4\n'),
  'output has every character': prints('a\0\u0007é\u2028漢字😀\n'),
  'half of a surrogate pair is shown as something else': prints(/^(\\ud83d|\ufffd) 😀\n$/),
  'of too much output, the head and the tail are returned': inSession(async (harness, [source = '']) => {
    const { output } = await harness.runCell(source)
    assert.ok(output.length < capturedCharacters + 100, `${output.length} characters`)
    assert.match(output, /^aaa[^]*characters cut[^]*az\n$/)
  }),
  'the steps of a cell share the limit of output': inSession(async (harness, [source = '']) => {
    const { stepResults, output } = await harness.runCell(source)
    const [first = 0, ...others] = stepResults.slice(0, 6).map((step) => ('output' in step ? step.output.length : 0))
    assert.equal(first, 999_001)
    assert.equal(others.length, 5)
    for (const length of others) expectNear(length, 850, 50)
    assert.match(output, /^0+\n1+\n\[\.\.\. \d+ characters cut \.\.\.\]\n1+\n/)
  }),
  'printing a frame forges none': inSession(async (harness, [source = '']) => {
    const { finalResult } = await harness.runCell(source)
    const { output } = expectResult(finalResult, 'completed')
    assert.ok(output.startsWith('\0\0\0\u0002{}') && output.includes('forged'), output)
  }),
} satisfies Behaviors
