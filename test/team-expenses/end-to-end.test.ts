import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { whoExceeded } from '../../examples/team-expenses/answer.js'
import { question } from '../../examples/team-expenses/question.js'
import { script } from '../../examples/team-expenses/script.js'
import { tools } from '../../examples/team-expenses/tools.js'
import { describeDocker } from '../support/docker.js'
import { readTable } from '../support/read-table.js'
import { Stack } from '../support/stack.js'

const program = new URL('../../examples/team-expenses/program.py', import.meta.url)

/** The whole example through the whole stack, compared with the books: people, and amounts to the cent. */
function answersRightly(backend: 'docker' | 'wasm'): void {
  it('an agent names the right people and amounts', async () => {
    const stack = await Stack.start({ tools, script, backend })
    const result = await stack.ask({ question })
    expect(readTable(result.answer)).toEqual(whoExceeded('engineering', 'Q3'))
    // One team, eight people's expenses, and a budget for each of the five above 5,000.
    expect(result).toMatchObject({ status: 'answered', turns: 2, cells: 1, toolCalls: 14 })
    const read = result.usage.inputTokens + result.usage.cacheReadTokens + result.usage.cacheWriteTokens
    expect(read).toBeLessThan(10_000) // the 250 lines alone would be ten times as much
  })

  it('a program without a model prints them', async () => {
    const stack = await Stack.start({ tools, backend })
    const { outcome, turns } = await stack.run(await readFile(program, 'utf8'))
    expect(readTable(outcome.output)).toEqual(whoExceeded('engineering', 'Q3'))
    expect(turns).toBe(0)
  })
}

describeDocker('the team-expense example in Docker', () => answersRightly('docker'))

describe('the team-expense example in the embedded sandbox', () => answersRightly('wasm'))
