import { Command, Option } from 'commander'
import type { RunStatus } from '../../../client/run-tree/index.js'
import { withEnvironment } from '../../environment/with-environment.js'
import { type ActiveStatus, activeStatuses, awaitingStatuses } from '../../../common/run/search-attributes.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption, integerUpTo, parseDuration } from '../options.js'
import { stdoutLayout } from '../../rendering/text/colors.js'
import { print, printStyled, printStatus } from '../../process/stdio.js'

interface Options extends ConfigOption, JsonOption {
  readonly limit: number
  readonly status?: RunStatus | ActiveStatus
  readonly agent?: string
  readonly tenant?: string
  readonly since?: number
}

/** A copy, because the module that exports the statuses loads Temporal's SDK. */
const endStatuses = ['completed', 'failed', 'cancelled', 'terminated', 'timed_out'] satisfies RunStatus[]

/** `ptc list`. */
export function listCommand(): Command {
  return new Command('list')
    .description('list runs, newest first')
    .addOption(new Option('-n, --limit <number>', 'maximum number of runs').argParser(integerUpTo(10_000)).default(20))
    .addOption(
      new Option('--status <status>', 'only runs with this status').choices([...activeStatuses, ...endStatuses]),
    )
    .addOption(new Option('--agent <name>', 'only runs of this agent'))
    .addOption(new Option('--tenant <name>', 'only runs whose context has this tenant'))
    .addOption(new Option('--since <age>', 'only runs that began in this time: 30m, 12h, 7d').argParser(parseDuration))
    .addOption(configOption())
    .addOption(jsonOption('an array of runs'))
    .addHelpText(
      'after',
      `
\`--status running\` lists all runs that have not ended. The statuses waiting…, paused and idle, --agent and --tenant need
the search attributes of durable-ptc on the server, which \`ptc dev\` has; \`ptc doctor\` says how to add them.`,
    )
    .action(list)
}

async function list({ config, json, since, ...filters }: Options): Promise<void> {
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'start_read_only' }, async (environment) => {
    const { warnUnservedRoles } = await import('../../environment/worker-warnings.js')
    const began = since !== undefined && { since: new Date(Date.now() - since) }
    const runs = await environment.ptc.list({ ...filters, ...began })
    if (json === true) print(JSON.stringify(runs, null, 2))
    else if (runs.length === 0) {
      const { taskQueue } = environment.ptc
      const isFiltered = Object.keys({ ...filters, ...began }).length > 1
      printStatus(isFiltered ? `no run on task queue ${taskQueue} matches` : `no runs on task queue ${taskQueue} yet`)
    } else {
      const { renderRunTable } = await import('../../rendering/tables/run-table.js')
      printStyled(renderRunTable(runs, { now: new Date(), ...stdoutLayout() }))
      const waiting = runs.filter(({ state }) => awaitingStatuses.some((each) => each === state)).length
      if (waiting > 0)
        printStatus(
          `${waiting} of them ${waiting === 1 ? 'waits' : 'wait'}: \`ptc approvals\` says for what, and how to continue`,
        )
    }
    await warnUnservedRoles(environment, runs)
  })
}
