import { Command, Option } from 'commander'
import { programRoles } from '../../../common/names.js'
import {
  configOption,
  type ConfigOption,
  jsonOption,
  type JsonOption,
  sandboxOption,
  type SandboxOption,
} from '../options.js'

interface Options extends ConfigOption, JsonOption, SandboxOption {
  readonly id?: string
}

/** `ptc exec script.py`. */
export function execCommand(): Command {
  return new Command('exec')
    .description('run a Python program with the tools, without a model')
    .argument('<script>', 'file with the program; - reads it from standard input')
    .addOption(configOption())
    .addOption(sandboxOption())
    .addOption(new Option('--id <id>', 'id of the run (default: made up)'))
    .addOption(jsonOption('one object with the output and counts'))
    .addHelpText(
      'after',
      `
What the program prints goes to stdout, its error to stderr; then the exit code is 1.

Examples:
  ptc exec report.py
  echo 'print(await get_expenses(employee_id="ENG001", quarter="Q3"))' | ptc exec -`,
    )
    .action(exec)
}

async function exec(script: string, { json, config, sandbox, id }: Options): Promise<void> {
  const { startAndFollow } = await import('../start-and-follow.js')
  const { readText } = await import('../read-text.js')
  const { checkStart } = await import('../../start-options.js')
  await startAndFollow(
    async () => {
      const source = await readText(script)
      const input = { source, ...(sandbox === undefined ? {} : { sandbox }) }
      const named = id === undefined ? {} : { workflowId: id }
      checkStart('program', source, named)
      return (ptc) => ptc.startProgram(input, named)
    },
    { roles: programRoles, json: json === true, config, sandbox, detach: false },
  )
}
