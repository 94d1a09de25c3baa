import { Command, Option } from 'commander'
import type { RunStatus } from '../../history/index.js'
import type { RunInfo } from '../../run-info.js'
import { unlessAborted } from '../../../common/abort.js'
import { catchInterrupts } from '../interrupts.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption, wholeNumber } from '../options.js'
import { print, printDrawn, say } from '../terminal.js'

interface Options extends ConfigOption, JsonOption {
  readonly limit: number
  readonly status?: RunStatus
}

/** Kept here: the module that can ask for them loads Temporal's SDK. */
const statuses = ['running', 'completed', 'failed', 'cancelled', 'terminated', 'timed_out'] satisfies RunStatus[]

/** `ptc list`. */
export function listCommand(): Command {
  return new Command('list')
    .description('list runs, the newest first')
    .addOption(new Option('-n, --limit <number>', 'how many').argParser(wholeNumber(10_000)).default(20))
    .addOption(new Option('--status <status>', 'only these').choices(statuses))
    .addOption(configOption())
    .addOption(jsonOption('an array of runs'))
    .action(list)
}

async function list({ limit, status, config, json }: Options): Promise<void> {
  using interrupts = catchInterrupts()
  const { openPlace } = await import('../place.js')
  const { sayUnserved } = await import('../unserved-notice.js')
  await using place = await openPlace({ config, reads: true, otherwise: 'look', interrupts })
  const asked = { limit, ...(status === undefined ? {} : { status }) }
  const runs = await unlessAborted(interrupts.first, place.ptc.list(asked))
  if (json === true) print(JSON.stringify(runs, null, 2))
  else if (runs.length === 0) say(`no runs on task queue ${place.ptc.taskQueue} yet`)
  else printDrawn(await table(runs))
  await unlessAborted(interrupts.first, sayUnserved(place, runs))
}

async function table(runs: readonly RunInfo[]): Promise<string> {
  const { runTable } = await import('../run-table.js')
  const { wantsColor } = await import('../../render/colors.js')
  const { stdout, env } = process
  const width = stdout.isTTY ? stdout.columns : undefined
  return runTable(runs, { now: new Date(), width, color: wantsColor(stdout, env) })
}
