import { Command, Option } from 'commander'
import { roles } from '../../../common/names.js'
import type { AgentInput } from '../../../common/runs.js'
import {
  configOption,
  type ConfigOption,
  jsonOption,
  type JsonOption,
  sandboxOption,
  type SandboxOption,
} from '../options.js'

interface Options extends ConfigOption, JsonOption, SandboxOption {
  readonly model?: string
  readonly id?: string
  readonly detach?: boolean
}

/** `ptc run "question"`. */
export function runCommand(): Command {
  return new Command('run')
    .description('ask a question; the model answers it with code that calls the tools')
    .argument('<question>', 'what to ask; - reads it from standard input')
    .addOption(configOption())
    .addOption(sandboxOption())
    .addOption(new Option('-m, --model <name>', 'instead of the model of the configuration'))
    .addOption(new Option('--id <id>', 'id of the run (default: made up)'))
    .addOption(new Option('-d, --detach', 'start it, print its id, and leave'))
    .addOption(jsonOption('one object with the answer, counts, tokens and cost'))
    .addHelpText(
      'after',
      `
Without a running Temporal server, one is started with a worker for as long as the run takes.
The answer goes to stdout, progress to stderr. Ctrl-C cancels the run, a second one leaves it running.

Examples:
  ptc run "Which engineers exceeded their travel budget in Q3?"
  ptc run --json "How many invoices are open?" | jq -r .answer
  ptc watch $(ptc run --detach "Summarise last week")`,
    )
    .action(run)
}

async function run(question: string, options: Options): Promise<void> {
  const { startAndFollow } = await import('../start-and-follow.js')
  const { readText } = await import('../read-text.js')
  const { checkStart } = await import('../../start-options.js')
  const { json, config, sandbox, model, id, detach } = options
  await startAndFollow(
    async () => {
      const input: AgentInput = {
        question: question === '-' ? await readText('-') : question,
        ...(model === undefined ? {} : { model }),
        ...(sandbox === undefined ? {} : { sandbox }),
      }
      const named = id === undefined ? {} : { workflowId: id }
      checkStart('agent', input.question, named)
      return (ptc) => ptc.startAgent(input, named)
    },
    { roles, json: json === true, config, sandbox, detach: detach === true },
  )
}
