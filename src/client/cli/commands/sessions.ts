import { Command } from 'commander'
import { unlessAborted } from '../../../common/abort.js'
import { catchInterrupts } from '../interrupts.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'
import type { Sessions } from '../../sessions/sessions.js'
import type { Place } from '../place.js'
import { print, say } from '../terminal.js'

type Options = ConfigOption & JsonOption

/** `ptc sessions list|show|interrupt|close|close-all`. */
export function sessionsCommand(): Command {
  return new Command('sessions')
    .description('sandboxes with a name, whose variables outlive a run: list, show, interrupt, close')
    .addCommand(
      part(
        'list',
        'list the sessions there are, those of runs in flight too, the newest first',
        'an array of sessions',
      ).action(list),
    )
    .addCommand(
      part('show', 'show one: state, cells, when it was used and when it expires', 'the session')
        .argument('<name>', 'name of the session')
        .action(show),
    )
    .addCommand(
      part('interrupt', 'stop the code that runs in one, as Ctrl-C would; its variables stay', 'its name')
        .argument('<name>', 'name of the session')
        .action(interrupt),
    )
    .addCommand(
      part('close', 'end one, and what is executed on it; its sandbox is removed', 'how it ended')
        .argument('<name>', 'name of the session')
        .action(close),
    )
    .addCommand(part('close-all', 'end every named session of the task queue', 'an array of names').action(closeAll))
    .addHelpText(
      'after',
      `
\`ptc exec --session NAME script.py\` begins one, or goes on with it; unused, it ends by itself (sessions.idle in the configuration).`,
    )
}

function part(name: string, description: string, json: string): Command {
  return new Command(name).description(description).addOption(configOption()).addOption(jsonOption(json))
}

function list(options: Options): Promise<void> {
  return withSessions(options, async (sessions) => {
    const found = await sessions.list()
    if (options.json === true) return print(JSON.stringify(found, null, 2))
    if (found.length === 0) return say('no sessions')
    const { sessionTable } = await import('../session-table.js')
    print(sessionTable(found, new Date(), process.stdout.isTTY ? process.stdout.columns : undefined))
  })
}

function show(name: string, options: Options): Promise<void> {
  return withSessions(options, async (sessions) => {
    const found = await sessions.show(name)
    const { sessionFacts } = await import('../session-table.js')
    print(options.json === true ? JSON.stringify(found, null, 2) : sessionFacts(found, new Date()))
  })
}

function interrupt(name: string, options: Options): Promise<void> {
  return withSessions(options, async (sessions, place) => {
    await sessions.interrupt(name)
    const { sayUntaken } = await import('../unserved-notice.js')
    const { sessionWorkflowId } = await import('../../sessions/name.js')
    const workflowId = sessionWorkflowId(place.ptc.taskQueue, name)
    const isUntaken = await sayUntaken(place, { workflowId })
    if (options.json === true) print(JSON.stringify({ session: name }))
    else say(`session ${name} is interrupted${isUntaken ? ' when a worker takes its tasks' : ''}`)
  })
}

function close(name: string, options: Options): Promise<void> {
  return withSessions(options, async (sessions) => {
    const { cells, toolCalls, ended } = await sessions.close(name)
    if (options.json === true) print(JSON.stringify({ session: name, ended, cells, toolCalls }))
    else say(`session ${name} is closed (cells: ${cells}, tool calls: ${toolCalls})`)
  })
}

function closeAll(options: Options): Promise<void> {
  return withSessions(options, async (sessions) => {
    const names = await sessions.closeAll()
    if (options.json === true) print(JSON.stringify(names))
    else say(names.length === 0 ? 'no sessions' : `closed: ${names.join(', ')}`)
  })
}

/** Sessions speak for themselves: a worker must be there to let them. None is started: it would go on with every run there is. */
async function withSessions(
  { config }: Options,
  work: (sessions: Sessions, place: Place) => Promise<void>,
): Promise<void> {
  using interrupts = catchInterrupts()
  const { openPlace } = await import('../place.js')
  await using place = await openPlace({ config, reads: true, otherwise: 'fail', interrupts })
  await place.requireWorkers(['workflow'])
  await unlessAborted(interrupts.first, work(place.ptc.sessions, place))
}
