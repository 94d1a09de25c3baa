import { describe, expect, it } from 'vitest'
import { budgetOverruns } from '../../../../examples/team-expenses/expected-answer.js'
import { question } from '../../../../examples/team-expenses/question.js'
import { script } from '../../../../examples/team-expenses/script.js'
import { tools } from '../../../../examples/team-expenses/tools.js'
import { languages } from '../../../../src/languages/index.js'
import { canStripTypes } from '../../../../src/platform/strip-types.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { expensePrograms, readExpenseProgram } from '../../../support/expense-programs.js'
import { parseExpenseTable } from '../../../support/expense-table.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'

/** Runs the whole example and compares people and amounts with its data, to the cent. */
function describeExample(backend: 'docker' | 'wasm', programs = expensePrograms): void {
  it('the agent of the team-expense example answers with the right people and amounts', async () => {
    const env = await TestEnvironment.start({ tools, script, backend })
    const result = await env.runAgent({ question })
    expect(parseExpenseTable(result.answer)).toEqual(budgetOverruns('engineering', 'Q3'))
    // One team, eight people's expenses, and a budget for each of the five above 5,000.
    expect(result).toMatchObject({ status: 'answered', turns: 2, cells: 1, toolCalls: 14 })
    const read = result.usage.inputTokens + result.usage.cacheReadTokens + result.usage.cacheWriteTokens
    expect(read).toBeLessThan(10_000) // the 250 lines alone would be ten times as large
  })

  it.each(programs)('the $language program of the team-expense example prints the same', async (program) => {
    const env = await TestEnvironment.start({ tools, backend })
    const { language } = program
    const { outcome, turns } = await env.runProgram(await readExpenseProgram(program), { language })
    expect(parseExpenseTable(outcome.output)).toEqual(budgetOverruns('engineering', 'Q3'))
    expect(turns).toBe(0)
  })
}

describeDocker('the team-expense example in Docker', () => describeExample('docker'))

describe('the team-expense example in the embedded sandbox', () => {
  // The languages that it has an interpreter for.
  const isEmbedded = (name: string) =>
    languages.some((each) => each.name === name && each.embedded && (canStripTypes || !each.embedded.removesTypes))
  describeExample(
    'wasm',
    expensePrograms.filter(({ language }) => isEmbedded(language)),
  )
})
