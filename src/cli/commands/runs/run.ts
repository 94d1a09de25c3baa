import { Command, Option } from 'commander'
import { hostedBackend } from '../../../common/agent/hosted-code.js'
import {
  agentRunOptions,
  configOption,
  type ConfigOption,
  idOption,
  jsonOption,
  type ModeChoice,
  modeOption,
  type JsonOption,
  sandboxOption,
  type SandboxOption,
  usageError,
} from '../options.js'
import type { AgentOptions, OverrideOptions } from '../../run/options.js'

interface Options extends ConfigOption, JsonOption, SandboxOption, AgentOptions, OverrideOptions {
  readonly id?: string
  readonly detach?: boolean
  readonly interactive?: boolean
  readonly mode?: ModeChoice
}

export function runCommand(): Command {
  const command = new Command('run')
    .description('ask a question; the model answers it with code that calls the tools')
    .argument('<question>', 'what to ask; - reads it from standard input')
    .addOption(configOption())
    .addOption(sandboxOption(hostedBackend))
    .addOption(modeOption())
    .addOption(idOption())
    .addOption(new Option('-d, --detach', 'start the run, print its id, and leave'))
    .addOption(
      new Option('-i, --interactive', 'then converse: `ptc chat` with this question as its first message').conflicts([
        'detach',
        'id',
        'json',
      ]),
    )
    .addOption(jsonOption('one object with the answer, counts, tokens and cost'))
    .addHelpText(
      'after',
      `
Without a running Temporal server, starts one with a worker until the run ends.
The answer goes to stdout, progress to stderr. Ctrl-C cancels the run, a second one leaves it running.

Examples:
  ptc run "Which engineers exceeded their travel budget in Q3?"
  ptc run --agent analyst --input orders.json "Which customers pay late?"
  ptc run --upload sales.csv "Draw the sales by month"
  ptc run --mode autonomous "Fix the totals of Q3, and check them"
  ptc run --json "How many invoices are open?" | jq -r .answer
  ptc watch $(ptc run --detach "Summarise last week")`,
    )
    .action(async (question: string, options: Options) => {
      process.exitCode = await run(question, options)
    })
  for (const option of agentRunOptions()) command.addOption(option)
  return command
}

async function run(question: string, options: Options): Promise<number> {
  const { json, id, detach, interactive, mode } = options
  if (interactive === true || mode === 'conversation') {
    if (mode !== undefined && mode !== 'conversation')
      throw usageError('run', `with -i, the mode is conversation, not ${mode}`)
    if (json === true || detach === true || id !== undefined)
      throw usageError('chat', 'a conversation takes no --id, --detach or --json')
    if (question === '-')
      throw usageError('run', 'with -i, the messages come from standard input: give the question as an argument')
    const { runChat } = await import('../../chat/run-chat.js')
    return runChat({ ...options, first: question })
  }
  const { startRun } = await import('../../run/start-run.js')
  return startRun({ type: 'agent', question, mode, options }, options)
}
