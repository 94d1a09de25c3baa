import { Command, Option } from 'commander'
import { PtcError } from '../../../common/errors.js'
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
  readonly session?: string
  readonly resume?: boolean
  readonly interactive?: boolean
}

/** `ptc exec script.py`. */
export function execCommand(): Command {
  return new Command('exec')
    .description('run a Python program with the tools, without a model')
    .argument('[script]', 'file with the program; - reads it from standard input')
    .addOption(configOption())
    .addOption(sandboxOption())
    .addOption(new Option('--id <id>', 'id of the run (default: made up)').conflicts(['session', 'interactive']))
    .addOption(new Option('--session <name>', 'run it in a sandbox of this name, whose variables are kept'))
    .addOption(new Option('--resume', 'fail when there is no such session, instead of beginning one'))
    .addOption(new Option('-i, --interactive', 'then read more code from standard input, block by block'))
    .addOption(jsonOption('one object with the output and counts').conflicts('interactive'))
    .addHelpText(
      'after',
      `
What the program prints goes to stdout, its error to stderr; then the exit code is 1.
A session ends when it was not used for a while (270 seconds unless configured), or by \`ptc sessions close\`.
Ctrl-C stops the code; a session keeps its variables, and with -i the next block is read. A second Ctrl-C leaves.
With -i a block ends with its line, or with an empty line when it is indented; exit or Ctrl-D leaves. Without --session
everything is gone then.

Examples:
  ptc exec report.py
  echo 'print(await get_expenses(employee_id="ENG001", quarter="Q3"))' | ptc exec -
  ptc exec --session books load.py && ptc exec --session books report.py
  ptc exec -i --session books`,
    )
    .action(exec)
}

async function exec(script: string | undefined, options: Options): Promise<void> {
  const { json, config, sandbox, session, resume, interactive } = options
  if (resume === true && session === undefined) throw wrong('--resume needs --session: there is nothing else to resume')
  const mustExist = resume === true
  if (interactive === true) {
    if (script === '-') throw wrong('with -i, standard input is read block by block: give a file, or no script')
    const { startRepl } = await import('../repl.js')
    return startRepl({ script, session, config, sandbox, mustExist })
  }
  if (script === undefined) throw wrong('which script? Give a file, - for standard input, or -i')
  if (session !== undefined) {
    const { execOnSession } = await import('../exec-on-session.js')
    return execOnSession(script, { session, config, sandbox, mustExist, json: json === true })
  }
  return run(script, options)
}

async function run(script: string, { json, config, sandbox, id }: Options): Promise<void> {
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

function wrong(message: string): PtcError {
  return new PtcError('RUN_INPUT_INVALID', message, { hint: '(see `ptc exec --help`)' })
}
