import { Command } from 'commander'
import { withEnvironment } from '../../environment/with-environment.js'
import { type ConfigOption, type JsonOption, subcommand } from '../options.js'
import type { Sessions } from '../../../client/sessions/sessions.js'
import type { Environment } from '../../environment/environment.js'
import { print, printStatus } from '../../process/stdio.js'

type Options = ConfigOption & JsonOption

export function sessionsCommand(): Command {
  return new Command('sessions')
    .description('list, show, interrupt and close sessions: named sandboxes whose variables outlive a run')
    .addCommand(
      subcommand('list', 'list sessions, including those of running runs, newest first', 'an array of sessions').action(
        list,
      ),
    )
    .addCommand(
      subcommand('show', 'show a session: state, cells, last use, expiry', 'the session')
        .argument('<name>', 'name of the session')
        .action(show),
    )
    .addCommand(
      subcommand('interrupt', 'stop the code that a session executes, as Ctrl-C does; its variables stay', 'the name')
        .argument('<name>', 'name of the session')
        .action(interrupt),
    )
    .addCommand(
      subcommand('close', 'end a session and the code it executes; its sandbox is removed', 'the result')
        .argument('<name>', 'name of the session')
        .action(close),
    )
    .addCommand(
      subcommand('close-all', 'end all named sessions of the task queue', 'an array of names').action(closeAll),
    )
    .addHelpText(
      'after',
      `
\`ptc exec --session NAME script.py\` starts or continues a session. An unused one expires
(sessions.idle in the configuration).`,
    )
}

function list(options: Options): Promise<void> {
  return withSessions(options, async (sessions) => {
    const found = await sessions.list()
    if (options.json === true) return print(JSON.stringify(found, null, 2))
    if (found.length === 0) return printStatus('no sessions')
    const { renderSessionTable } = await import('../../rendering/tables/session-table.js')
    print(renderSessionTable(found, new Date(), process.stdout.isTTY ? process.stdout.columns : undefined))
  })
}

function show(name: string, options: Options): Promise<void> {
  return withSessions(options, async (sessions) => {
    const found = await sessions.show(name)
    const { renderSessionDetails } = await import('../../rendering/tables/session-table.js')
    print(options.json === true ? JSON.stringify(found, null, 2) : renderSessionDetails(found, new Date()))
  })
}

function interrupt(name: string, options: Options): Promise<void> {
  return withSessions(options, async (sessions, environment) => {
    await sessions.interrupt(name)
    const { warnIfTaskNotTaken } = await import('../../environment/worker-warnings.js')
    const { sessionWorkflowId } = await import('../../../client/sessions/session-name.js')
    const workflowId = sessionWorkflowId(environment.ptc.taskQueue, name)
    const isPending = await warnIfTaskNotTaken(environment, { workflowId })
    if (options.json === true) print(JSON.stringify({ session: name }))
    else printStatus(`session ${name} is interrupted${isPending ? ' when a worker takes its tasks' : ''}`)
  })
}

function close(name: string, options: Options): Promise<void> {
  return withSessions(options, async (sessions) => {
    const { cells, toolCalls, ended } = await sessions.close(name)
    if (options.json === true) print(JSON.stringify({ session: name, ended, cells, toolCalls }))
    else printStatus(`session ${name} is closed (cells: ${cells}, tool calls: ${toolCalls})`)
  })
}

function closeAll(options: Options): Promise<void> {
  return withSessions(options, async (sessions) => {
    const names = await sessions.closeAll()
    if (options.json === true) print(JSON.stringify(names))
    else printStatus(names.length === 0 ? 'no sessions' : `closed: ${names.join(', ')}`)
  })
}

/**
 * Session commands need a worker, which answers for the sessions. None is started here: it would resume all open runs.
 */
async function withSessions(
  { config }: Options,
  action: (sessions: Sessions, environment: Environment) => Promise<void>,
): Promise<void> {
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'fail' }, async (environment) => {
    await environment.requireWorkers(['workflow'])
    await action(environment.ptc.sessions, environment)
  })
}
