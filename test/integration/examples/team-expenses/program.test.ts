import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../../../src/common/json/json.js'
import { defaultLimits } from '../../../../src/common/run/limits.js'
import { createRegistry } from '../../../../src/tools/registry.js'
import { runTool } from '../../../../src/tools/calls/run-tool.js'
import { budgetOverruns } from '../../../../examples/team-expenses/expected-answer.js'
import config from '../../../../examples/team-expenses/ptc.config.js'
import { employeesOf } from '../../../../examples/team-expenses/people.js'
import { script } from '../../../../examples/team-expenses/script.js'
import { tools } from '../../../../examples/team-expenses/tools.js'
import { parseExpenseTable } from '../../../support/expense-table.js'

const registry = createRegistry(tools)
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function call(
  tool: string,
  args: JsonObject,
  caller: 'direct' | 'code_execution' = 'code_execution',
): Promise<JsonValue> {
  const position = { turn: 1, cell: 1, index: 1 }
  const run = { namespace: 'default', workflowId: 'w', runId: 'r', agent: undefined }
  const context = { signal: new AbortController().signal, heartbeat: () => {}, log, attempt: 1, run, context: {} }
  return runTool(registry, { tool, caller, position, idempotencyKey: 'key', arguments: args }, defaultLimits, context)
}

/** Runs a program under plain CPython, with tools that return prepared results; returns its output. */
const harness = `
import ast, asyncio, json, sys
results, source = json.load(sys.stdin)
def tool(name):
    async def call(**arguments): return results[name + ' ' + ' '.join(arguments.values())]
    return call
space = {name: tool(name) for name in ('get_team_members', 'get_expenses', 'get_custom_budget')}
asyncio.run(eval(compile(source, 'program.py', 'exec', ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), space))
`

async function runProgram(source: string): Promise<string> {
  const results: Record<string, JsonValue> = {
    'get_team_members engineering': await call('get_team_members', { department: 'engineering' }),
  }
  for (const { id } of employeesOf('engineering')) {
    results[`get_expenses ${id} Q3`] = await call('get_expenses', { employee_id: id, quarter: 'Q3' })
    results[`get_custom_budget ${id}`] = await call('get_custom_budget', { user_id: id })
  }
  return execFileSync('python3', ['-c', harness], { input: JSON.stringify([results, source]), encoding: 'utf8' })
}

describe('the tools of the example', () => {
  it('the tools of the example are those of its configuration', () => {
    expect(config.tools.map(({ name }) => name)).toEqual(['get_team_members', 'get_expenses', 'get_custom_budget'])
  })

  it('the tools of the example return amounts with cents, and only lines of the schema', async () => {
    const lines = await call('get_expenses', { employee_id: 'ENG001', quarter: 'Q3' })
    expect(lines).toHaveLength(37)
    expect(Object.keys((lines as readonly JsonObject[])[0] ?? {})).toHaveLength(15)
  })

  it('the tools of the example fail without retry for an unknown person', async () => {
    for (const [tool, args] of [
      ['get_expenses', { employee_id: 'ENG999', quarter: 'Q1' }],
      ['get_custom_budget', { user_id: 'ENG999' }],
    ] as const) {
      await expect(call(tool, args)).rejects.toMatchObject({
        code: 'TOOL_REFUSED',
        message: 'No such employee: ENG999',
      })
    }
  })

  it('the tools of the example do not expose expense lines to direct calls of the model', async () => {
    await expect(call('get_expenses', { employee_id: 'ENG001', quarter: 'Q3' }, 'direct')).rejects.toMatchObject({
      code: 'TOOL_NOT_ALLOWED',
    })
  })

  it('the tools of the example document for the model that lodging counts', () => {
    const stub = registry.documentation().find(({ name }) => name === 'get_expenses')?.stub
    expect(stub).toContain('travel AND lodging')
    expect(stub).toContain("await get_expenses(employee_id='ENG001', quarter='Q3')")
    expect(stub).toContain('-> list[Expense]:')
  })
})

describe('a program that uses them', () => {
  const right = budgetOverruns('engineering', 'Q3')

  it('a program with the tools of the example finds the same people and amounts as the data', async () => {
    const program = readFileSync(new URL('../../../../examples/team-expenses/program.py', import.meta.url), 'utf8')
    expect(parseExpenseTable(await runProgram(program))).toEqual(right)
  })

  it("a program of the scripted model prints the same as the example's own", async () => {
    const codes = script.flatMap(({ reply }) =>
      reply.content.flatMap((block) => ('input' in block ? [block.input.code] : [])),
    )
    expect(codes).toHaveLength(1)
    expect(parseExpenseTable(await runProgram(codes[0] ?? ''))).toEqual(right)
  })
})
