import { Command, Option } from 'commander'
import { pluralize } from '../../../common/text/text.js'
import type { GarbageReport } from '../../../values/garbage/collect-garbage.js'
import { listenForInterrupts } from '../../process/interrupts.js'
import { withEnvironment } from '../../environment/with-environment.js'
import { type ConfigOption, type JsonOption, parseAge, parseRunId, subcommand } from '../options.js'
import { collectStoreStats, formatDecimalBytes, renderStoreStats } from '../../rendering/tables/store-table.js'
import { print, printStatus } from '../../process/stdio.js'

type Options = ConfigOption & JsonOption

interface CollectOptions extends Options {
  readonly olderThan: number
  readonly dryRun?: boolean
}

interface EraseOptions extends Options {
  readonly run?: string
  readonly dryRun?: boolean
}

export function valuesCommand(): Command {
  return new Command('values')
    .description('count, collect and erase the stored values of runs')
    .addCommand(subcommand('stat', 'count the values of the store by age', 'the counts').action(stat))
    .addCommand(
      subcommand('gc', 'remove values that no run refers to', 'the report')
        .addOption(
          new Option('--older-than <age>', 'only values that were last put longer ago: 90m, 12h, 7d; at least 1h')
            .argParser(parseAge)
            .default(parseAge('1d'), '1d'),
        )
        .option('-n, --dry-run', 'report only, remove nothing')
        .addHelpText(
          'after',
          `
Reads the history of every run of the namespace that the server lists, open or closed. Do not use it on a store that
another namespace or server uses too: give each a folder or a prefix of its own.`,
        )
        .action(collectValues),
    )
    .addCommand(
      subcommand('erase', 'delete a finished run: its histories, values and live stream', 'what was erased')
        .argument('<id>', 'id of the run, as `ptc list` shows it')
        .addOption(
          new Option('--run <run-id>', 'one of several runs with this id (default: the latest)').argParser(parseRunId),
        )
        .option('-n, --dry-run', 'report only, erase nothing')
        .addHelpText(
          'after',
          `
Values that another history of the namespace refers to stay: the answer that a parent workflow got, for example. Child
runs and named sessions have ids of their own: erase them as well. An erased run can't be restored.`,
        )
        .action(erase),
    )
}

/** Counts without a server. */
async function stat({ config, json }: Options): Promise<void> {
  using interrupts = listenForInterrupts()
  const { resolveProject } = await import('../../environment/project.js')
  const { openStore } = await import('../../../values/open-store.js')
  const project = await resolveProject({ config, load: 'if_named' })
  const store = await openStore(project.store)
  try {
    const now = new Date()
    const facts = await collectStoreStats(store.description, store.list(interrupts.first), now)
    print(json === true ? JSON.stringify(facts, null, 2) : renderStoreStats(facts, now))
  } finally {
    await store.close()
  }
}

async function collectValues({ config, json, olderThan, dryRun = false }: CollectOptions): Promise<void> {
  await withEnvironment({ config, ifNoServer: 'start_read_only' }, async ({ client, values, server }, signal) => {
    const { collectGarbage } = await import('../../../values/garbage/collect-garbage.js')
    const { gcRoots } = await import('../../../client/temporal/gc-roots.js')
    const store = values.valueStore
    const unusedSince = Date.now() - olderThan
    const report = await collectGarbage({ store, roots: () => gcRoots(client, signal), unusedSince, dryRun, signal })
    if (json === true) return print(JSON.stringify({ store: store.description, dryRun, ...report }, null, 2))
    printReport(report, dryRun)
    printStatus(`looked through the runs of namespace ${client.options.namespace} at ${server.address}`)
  })
}

function printReport({ values, removed, unreadable }: GarbageReport, dryRun: boolean): void {
  const what = `${pluralize(removed.count, 'value')}, ${formatDecimalBytes(removed.bytes)}`
  print(`${dryRun ? 'would remove' : 'removed'} ${what}, of ${values.count}, ${formatDecimalBytes(values.bytes)}`)
  if (unreadable === 0) return
  printStatus(
    `ptc: ${pluralize(unreadable, 'value')} that runs refer to can't be read (missing or changed); values that these refer to were not found`,
  )
}

async function erase(workflowId: string, { config, json, run, dryRun = false }: EraseOptions): Promise<void> {
  await withEnvironment({ config, ifNoServer: 'start_read_only' }, async ({ client, values, stream }, signal) => {
    const { eraseRun } = await import('../../../client/run/erase-run.js')
    const erased = await eraseRun(client, { store: values.valueStore, stream, workflowId, runId: run, dryRun, signal })
    if (json === true) return print(JSON.stringify({ workflowId, dryRun, ...erased }, null, 2))
    const count = pluralize(erased.values.count, 'value')
    const what = `${pluralize(erased.runIds.length, 'execution')} and ${count} (${formatDecimalBytes(erased.values.bytes)})`
    print(`${dryRun ? 'would erase' : 'erased'} ${what} of ${workflowId}`)
  })
}
