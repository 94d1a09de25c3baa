import { Command, Option } from 'commander'
import type { RunStatus } from '../../client/run-tree/index.js'
import type { RunInfo } from '../../client/run/run-info.js'
import { withEnvironment } from '../environment/with-environment.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption, integerUpTo } from './options.js'
import { print, printStyled, printStatus } from '../process/stdio.js'

interface Options extends ConfigOption, JsonOption {
  readonly limit: number
  readonly status?: RunStatus
}

/** A copy: the module that exports them loads Temporal's SDK. */
const statuses = ['running', 'completed', 'failed', 'cancelled', 'terminated', 'timed_out'] satisfies RunStatus[]

/** `ptc list`. */
export function listCommand(): Command {
  return new Command('list')
    .description('list runs, newest first')
    .addOption(new Option('-n, --limit <number>', 'maximum number of runs').argParser(integerUpTo(10_000)).default(20))
    .addOption(new Option('--status <status>', 'only runs with this status').choices(statuses))
    .addOption(configOption())
    .addOption(jsonOption('an array of runs'))
    .action(list)
}

async function list({ limit, status, config, json }: Options): Promise<void> {
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'start_read_only' }, async (environment) => {
    const { warnUnservedRoles } = await import('../environment/worker-warnings.js')
    const runs = await environment.ptc.list({ limit, ...(status === undefined ? {} : { status }) })
    if (json === true) print(JSON.stringify(runs, null, 2))
    else if (runs.length === 0) printStatus(`no runs on task queue ${environment.ptc.taskQueue} yet`)
    else printStyled(await formatRuns(runs))
    await warnUnservedRoles(environment, runs)
  })
}

async function formatRuns(runs: readonly RunInfo[]): Promise<string> {
  const { renderRunTable } = await import('../rendering/tables/run-table.js')
  const { supportsColor } = await import('../rendering/text/colors.js')
  const { stdout, env } = process
  const width = stdout.isTTY ? stdout.columns : undefined
  return renderRunTable(runs, { now: new Date(), width, color: supportsColor(stdout, env) })
}
