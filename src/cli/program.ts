/*
 * `src/cli` owns the command line `ptc`: arguments, output, exit codes, and the life time of what a command starts.
 *
 * Boundary: commands call the client library, and the worker and the dev server through `environment/`. Texts are laid
 * out by `rendering/`.
 *
 * Invariants:
 * 1. stdout has results, stderr has everything else.
 * 2. Exit codes are 0, 1, 2, 3, 4 and 130. Only `main.ts` and the actions in `commands/` set them.
 * 3. `--help` does not load Temporal's SDK.
 * 4. A command leaves no process behind.
 * 5. Text of a run is sanitized before it reaches a terminal.
 */

import { Command } from 'commander'
import { closestMatch } from '../common/text/unknown-keys.js'
import { approvalsCommand } from './commands/calls/approvals.js'
import { answerCommand, approveCommand, denyCommand } from './commands/calls/decide.js'
import { budgetCommand } from './commands/runs/budget.js'
import { cancelCommand } from './commands/runs/cancel.js'
import { chatCommand } from './commands/runs/chat.js'
import { codecServerCommand } from './commands/processes/codec-server.js'
import { devCommand } from './commands/processes/dev.js'
import { doctorCommand } from './commands/project/doctor.js'
import { execCommand } from './commands/runs/exec.js'
import { evalCommand } from './commands/project/eval.js'
import { imageCommand } from './commands/project/image.js'
import { initCommand } from './commands/project/init.js'
import { listCommand } from './commands/runs/list.js'
import { replayCheckCommand } from './commands/project/replay-check.js'
import { mcpCommand } from './commands/processes/mcp.js'
import { runCommand } from './commands/runs/run.js'
import { serveCommand } from './commands/processes/serve.js'
import { filesCommand } from './commands/state/files.js'
import { sessionsCommand } from './commands/state/sessions.js'
import { showCommand } from './commands/runs/show.js'
import { memoryCommand } from './commands/state/memory.js'
import { valuesCommand } from './commands/state/values.js'
import { watchCommand } from './commands/runs/watch.js'
import { workerCommand } from './commands/processes/worker.js'
import { packageInfo } from '../platform/package-info.js'

const examples = `
Examples:
  ptc init expenses                          write a project with one tool
  ptc dev                                    a Temporal server with its UI, and a worker, for this folder
  ptc run "Who exceeded the travel budget?"  ask a question; the answer goes to stdout, progress to stderr
  ptc exec report.py                         run a program with the tools, without a model
  ptc show agent-x4k2m9pqrs                  show a run as a tree

Commands use the Temporal server of TEMPORAL_ADDRESS, TEMPORAL_PROFILE or temporal.toml; else that of \`ptc dev\`.
Exit codes: 0 success, 1 the run failed, 2 wrong usage, 3 no Temporal or no worker, 4 the model gave up,
130 interrupted.`

/** The command line. Each command imports Temporal's SDK when it runs, so that help is fast. */
export function buildProgram(): Command {
  const program = new Command('ptc')
    .description('Durable programmatic tool calling: model-written code in a sandbox, every step recorded by Temporal.')
    .version(packageInfo().version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', examples)
    .configureHelp({ sortOptions: false })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'ptc: ')) })
    .showSuggestionAfterError()
    .showHelpAfterError('(see --help)')
    .exitOverride()
  const commands = [
    initCommand(),
    devCommand(),
    workerCommand(),
    runCommand(),
    chatCommand(),
    execCommand(),
    watchCommand(),
    showCommand(),
    listCommand(),
    cancelCommand(),
    budgetCommand(),
    approvalsCommand(),
    approveCommand(),
    denyCommand(),
    answerCommand(),
    sessionsCommand(),
    filesCommand(),
    valuesCommand(),
    memoryCommand(),
    imageCommand(),
    evalCommand(),
    replayCheckCommand(),
    serveCommand(),
    mcpCommand(),
    codecServerCommand(),
    doctorCommand(),
  ]
  for (const command of commands) {
    program.addCommand(command.copyInheritedSettings(program).helpCommand(false))
    for (const subcommand of command.commands) subcommand.copyInheritedSettings(program)
  }
  program.addCommand(helpCommand(program).copyInheritedSettings(program))
  return program
}

/** For an unknown command, commander's own help command prints the help of the program. */
function helpCommand(program: Command): Command {
  return new Command('help')
    .description('print the help of a command')
    .argument('[command]')
    .action((name?: string) => {
      if (name === undefined) return program.help()
      const command = program.commands.find((each) => each.name() === name)
      if (command) return command.help()
      const names = program.commands.map((each) => each.name())
      const closest = closestMatch(name, names)
      const suggestion = closest === undefined ? '' : `\n(Did you mean ${closest}?)`
      return program.error(`error: unknown command '${name}'${suggestion}`, { code: 'commander.unknownCommand' })
    })
}
