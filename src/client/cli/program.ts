import { Command } from 'commander'
import { closest } from '../../common/unknown-keys.js'
import { cancelCommand } from './commands/cancel.js'
import { demoCommand } from './commands/demo.js'
import { devCommand } from './commands/dev.js'
import { doctorCommand } from './commands/doctor.js'
import { execCommand } from './commands/exec.js'
import { listCommand } from './commands/list.js'
import { runCommand } from './commands/run.js'
import { sessionsCommand } from './commands/sessions.js'
import { showCommand } from './commands/show.js'
import { valuesCommand } from './commands/values.js'
import { watchCommand } from './commands/watch.js'
import { workerCommand } from './commands/worker.js'
import { packageInfo } from './package-info.js'

const examples = `
Examples:
  ptc dev                                    a Temporal server with its UI, and a worker, for this folder
  ptc run "Who exceeded the travel budget?"  ask; the answer goes to stdout, progress to stderr
  ptc exec report.py                         run a program with the tools, without a model
  ptc show agent-x4k2m9pqrs                  draw a run as a tree

Temporal is found as its own tools find it: TEMPORAL_ADDRESS, TEMPORAL_PROFILE, temporal.toml; else the one of \`ptc dev\`.
Exit codes: 0 fine, 1 the run failed, 2 wrong usage, 3 no Temporal or no worker, 130 interrupted.`

/** The command line. Each command loads what it needs when it runs: help must not wait for Temporal's SDK. */
export function buildProgram(): Command {
  const program = new Command('ptc')
    .description(
      'Durable programmatic tool calling: model-written code in a sandbox, every step remembered by Temporal.',
    )
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
    devCommand(),
    workerCommand(),
    runCommand(),
    execCommand(),
    watchCommand(),
    showCommand(),
    listCommand(),
    cancelCommand(),
    sessionsCommand(),
    valuesCommand(),
    doctorCommand(),
  ]
  for (const command of commands) {
    program.addCommand(command.copyInheritedSettings(program))
    for (const part of command.commands) part.copyInheritedSettings(program)
  }
  program.addCommand(helpCommand(program).copyInheritedSettings(program))
  program.addCommand(demoCommand().copyInheritedSettings(program), { hidden: true })
  return program
}

/** Commander's own prints the help of the whole program for a command that there is not. */
function helpCommand(program: Command): Command {
  return new Command('help')
    .description('print the help of a command')
    .argument('[command]')
    .action((name?: string) => {
      if (name === undefined) return program.help()
      const found = program.commands.find((command) => command.name() === name)
      if (found) return found.help()
      const names = program.commands.map((command) => command.name())
      const meant = closest(name, names)
      const suggestion = meant === undefined ? '' : `\n(Did you mean ${meant}?)`
      return program.error(`error: unknown command '${name}'${suggestion}`, { code: 'commander.unknownCommand' })
    })
}
