import { Command, Option } from 'commander'
import { defaultLanguage } from '../../../languages/index.js'
import { PtcError } from '../../../common/errors.js'
import {
  boundOptions,
  configOption,
  type ConfigOption,
  dataOptions,
  idOption,
  jsonOption,
  type JsonOption,
  sandboxOption,
  type SandboxOption,
} from '../options.js'
import type { OverrideOptions } from '../../run/options.js'

interface Options extends ConfigOption, JsonOption, SandboxOption, OverrideOptions {
  readonly id?: string
  readonly session?: string
  readonly resume?: boolean
  readonly interactive?: boolean
}

export function execCommand(): Command {
  const command = new Command('exec')
    .description(`run a ${defaultLanguage.title} program with the tools, without a model`)
    .argument('[script]', 'file with the program; - reads it from standard input')
    .addOption(configOption())
    .addOption(sandboxOption())
    .addOption(idOption().conflicts(['session', 'interactive']))
    .addOption(new Option('--session <name>', 'execute it in the session of this name, which keeps its variables'))
    .addOption(new Option('--resume', 'fail if the session does not exist, instead of starting it'))
    .addOption(new Option('-i, --interactive', 'then read more code from standard input, block by block'))
    .addOption(jsonOption('one object with the output and counts').conflicts('interactive'))
    .addHelpText(
      'after',
      `
What the program prints goes to stdout, its error to stderr; then the exit code is 1.
A session expires when unused (after 270 seconds unless configured); \`ptc sessions close\` ends it.
Ctrl-C stops the code; a session keeps its variables, and with -i the next block is read. A second Ctrl-C leaves.
With -i a block ends with its line, or with an empty line when it is indented; exit or Ctrl-D leaves. Without --session
the session then ends.

Examples:
  ptc exec report.py
  echo 'print(await get_expenses(employee_id="ENG001", quarter="Q3"))' | ptc exec -
  ptc exec --session books --input orders.json load.py && ptc exec --session books report.py
  ptc exec -i --session books
  ptc exec --input orders.json report.py`,
    )
    .action(async (script: string | undefined, options: Options) => {
      process.exitCode = await exec(script, options)
    })
  for (const option of dataOptions()) command.addOption(option)
  // A session keeps the limits it began with.
  for (const option of boundOptions()) command.addOption(option.conflicts(['session', 'interactive']))
  return command
}

async function exec(script: string | undefined, options: Options): Promise<number> {
  const { id, json, config, sandbox, session, resume, interactive, ...overrides } = options
  if (resume === true && session === undefined)
    throw usageError('--resume needs --session: there is nothing else to resume')
  const mustExist = resume === true
  if (interactive === true) {
    if (script === '-') throw usageError('with -i, standard input is read block by block: give a file, or no script')
    const { runRepl } = await import('../../session/repl.js')
    return runRepl({ ...overrides, script, session, config, sandbox, mustExist })
  }
  if (script === undefined) throw usageError('which script? Give a file, - for standard input, or -i')
  if (session !== undefined) {
    const { execInSession } = await import('../../session/exec-in-session.js')
    return execInSession(script, { ...overrides, session, config, sandbox, mustExist, json: json === true })
  }
  const { startRun } = await import('../../run/start-run.js')
  return startRun(
    { type: 'program', script },
    { ...overrides, id, config, sandbox, json: json === true, detach: false },
  )
}

function usageError(message: string): PtcError {
  return new PtcError('RUN_INPUT_INVALID', message, { hint: '(see `ptc exec --help`)' })
}
