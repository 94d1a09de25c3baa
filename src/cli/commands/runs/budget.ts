import { Command, InvalidArgumentError, Option } from 'commander'
import type { BudgetChange } from '../../../common/budget/budget.js'
import { withEnvironment } from '../../environment/with-environment.js'
import { print } from '../../process/stdio.js'
import { jsonOption, type JsonOption } from '../options.js'

interface Options extends JsonOption {
  readonly cost?: number
  readonly tokens?: number
  readonly turns?: number
  readonly calls?: number
  readonly seconds?: number
}

export function budgetCommand(): Command {
  const amount = (flag: string, description: string) => new Option(flag, description).argParser(parseAmount)
  return new Command('budget')
    .description('show what a run has used of its budget; an option raises the budget, and a paused run continues')
    .argument('<id>', 'id of the run, as `ptc list` shows it')
    .addOption(amount('--cost <dollars>', 'new budget in US dollars'))
    .addOption(amount('--tokens <number>', 'new budget of tokens that the model reads and writes'))
    .addOption(amount('--turns <number>', 'new budget of turns of the model'))
    .addOption(amount('--calls <number>', 'new budget of tool calls'))
    .addOption(amount('--seconds <number>', 'new budget of seconds since the run began'))
    .addOption(jsonOption('the budget, the usage and the wait of the run'))
    .action(budget)
}

/** Parser for commander: a number above 0. */
function parseAmount(text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value
  throw new InvalidArgumentError('It must be a number above 0.')
}

async function budget(id: string, { cost, tokens, turns, calls, seconds, json }: Options): Promise<void> {
  const given = { costUsd: cost, tokens, turns, toolCalls: calls, seconds }
  const change: BudgetChange = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  await withEnvironment({ load: 'never', ifNoServer: 'fail' }, async ({ ptc }) => {
    const handle = ptc.handle(id)
    const status = await (Object.keys(change).length === 0 ? handle.budget() : handle.budget(change))
    if (json === true) return print(JSON.stringify(status))
    const { renderBudget } = await import('../../rendering/tables/budget-table.js')
    print(renderBudget(id, status))
  })
}
