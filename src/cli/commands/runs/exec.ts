import { Command, Option } from 'commander'
import {
  boundOptions,
  configOption,
  type ConfigOption,
  dataOptions,
  idOption,
  jsonOption,
  type JsonOption,
  languageOption,
  sandboxOption,
  type SandboxOption,
  uploadOption,
  usageError,
} from '../options.js'
import type { OverrideOptions } from '../../run/options.js'

interface Options extends ConfigOption, JsonOption, SandboxOption, OverrideOptions {
  readonly id?: string
  readonly session?: string
  readonly resume?: boolean
  readonly interactive?: boolean
  readonly upload?: readonly string[]
}

export function execCommand(): Command {
  const command = new Command('exec')
    .description('run a program in Python or JavaScript with the tools, without a model')
    .argument('[script]', 'file with the program; - reads it from standard input')
    .addOption(configOption())
    .addOption(sandboxOption())
    .addOption(languageOption('that of the file by its name, or as configured'))
    .addOption(idOption().conflicts(['session', 'interactive']))
    .addOption(new Option('--session <name>', 'named session that executes the program and keeps its variables'))
    .addOption(new Option('--resume', 'fail if the session does not exist, instead of starting it'))
    .addOption(new Option('-i, --interactive', 'then read more code from standard input, block by block'))
    .addOption(jsonOption('one object with the output and counts').conflicts('interactive'))
    .addHelpText(
      'after',
      `
The output of the program goes to stdout. Its error goes to stderr, with exit code 1.
A session expires when unused (after 270 seconds unless configured); \`ptc sessions close\` ends it.
Ctrl-C stops the code; a session keeps its variables, and with -i the next block is read. A second Ctrl-C leaves.
With -i a block ends with its line, or with an empty line when it is indented; exit or Ctrl-D leaves. Without --session
the session then ends.

Examples:
  ptc exec report.py
  ptc exec report.ts
  echo 'print(await get_expenses(employee_id="ENG001", quarter="Q3"))' | ptc exec -
  ptc exec --session books --input orders.json load.py && ptc exec --session books report.py
  ptc exec -i --session books
  ptc exec --input orders.json report.py`,
    )
    .action(async (script: string | undefined, options: Options) => {
      process.exitCode = await exec(script, options)
    })
  for (const option of dataOptions()) command.addOption(option)
  command.addOption(uploadOption().conflicts('interactive'))
  // A session keeps the limits it began with.
  for (const option of boundOptions()) command.addOption(option.conflicts(['session', 'interactive']))
  return command
}

async function exec(script: string | undefined, options: Options): Promise<number> {
  const { json = false, session, resume = false, interactive = false } = options
  if (resume && session === undefined) throw usageError('exec', '--resume needs --session')
  if (interactive) {
    if (script === '-')
      throw usageError('exec', 'with -i, the code comes from standard input: give a file, or no script')
    const { runRepl } = await import('../../session/repl.js')
    return runRepl({ ...options, script, mustExist: resume })
  }
  if (script === undefined) throw usageError('exec', 'a script is missing: give a file, - for standard input, or -i')
  if (session !== undefined) {
    const { execInSession } = await import('../../session/exec-in-session.js')
    return execInSession(script, { ...options, session, mustExist: resume, json })
  }
  const { startRun } = await import('../../run/start-run.js')
  return startRun({ type: 'program', script }, options)
}
