import { join } from 'node:path'
import { Command, Option } from 'commander'
import { plural } from '../../../common/text.js'
import type { GarbageReport } from '../../../values/collect-garbage.js'
import type { ValueStore } from '../../../values/store.js'
import { age } from '../age.js'
import { unlessAborted } from '../../../common/abort.js'
import { catchInterrupts } from '../interrupts.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'
import { print, say } from '../terminal.js'

type Options = ConfigOption & JsonOption

interface CollectOptions extends Options {
  readonly olderThan: number
  readonly dryRun?: boolean
}

/** `ptc values stat|gc`. */
export function valuesCommand(): Command {
  return new Command('values')
    .description('what runs keep outside of their histories: count, clean up')
    .addCommand(part('stat', 'count what the store has, by age', 'the counts').action(stat))
    .addCommand(
      part('gc', 'remove what no run refers to any more', 'what was removed')
        .addOption(
          new Option('--older-than <age>', 'only what was last put so long ago: 90m, 12h, 7d; at least 1h')
            .argParser(age)
            .default(age('1d'), '1d'),
        )
        .option('-n, --dry-run', 'tell, and remove nothing')
        .addHelpText(
          'after',
          `
Looks through every run the server still lists, open or ended, in the namespace it is told. A store that runs of another namespace
or server use too must not be cleaned up from here: give each a folder or a prefix of its own.`,
        )
        .action(collect),
    )
}

function part(name: string, description: string, json: string): Command {
  return new Command(name).description(description).addOption(configOption()).addOption(jsonOption(json))
}

async function stat({ config, json }: Options): Promise<void> {
  using interrupts = catchInterrupts()
  const { factsTable, storeFacts } = await import('../value-table.js')
  const store = await configuredStore(config)
  try {
    const now = new Date()
    const facts = await storeFacts(store.description, store.list(interrupts.first), now)
    print(json === true ? JSON.stringify(facts, null, 2) : factsTable(facts, now))
  } finally {
    await store.close()
  }
}

async function collect({ config, json, olderThan, dryRun = false }: CollectOptions): Promise<void> {
  using interrupts = catchInterrupts()
  const { openPlace } = await import('../place.js')
  const { collectGarbage } = await import('../../../values/collect-garbage.js')
  const { valueRoots } = await import('../../value-roots.js')
  await using place = await openPlace({ config, otherwise: 'look', interrupts })
  const signal = interrupts.first
  const { client } = place
  const { store } = place.values
  const unusedSince = Date.now() - olderThan
  const roots = () => valueRoots(client, signal)
  const report = await unlessAborted(signal, collectGarbage({ store, roots, unusedSince, dryRun, signal }))
  if (json === true) return print(JSON.stringify({ store: store.description, dryRun, ...report }, null, 2))
  const { bytesInWords } = await import('../value-table.js')
  tell(report, dryRun, bytesInWords)
  say(`looked through the runs of namespace ${client.options.namespace} at ${place.server.address}`)
}

function tell(
  { values, removed, unreadable }: GarbageReport,
  dryRun: boolean,
  inWords: (bytes: number) => string,
): void {
  const what = `${plural(removed.count, 'value')}, ${inWords(removed.bytes)}`
  print(`${dryRun ? 'would remove' : 'removed'} ${what}, of ${values.count}, ${inWords(values.bytes)}`)
  if (unreadable === 0) return
  say(
    `ptc: ${plural(unreadable, 'value')} that runs refer to can't be read: missing or changed; what those refer to was not seen`,
  )
}

/** Needs no server. */
async function configuredStore(file: string | undefined): Promise<ValueStore> {
  const { findConfig, stateDirectory } = await import('../project.js')
  const { rememberedSettings } = await import('../../../worker/config/remembered-settings.js')
  const { openStore } = await import('../../../values/open-store.js')
  const state = stateDirectory()
  const config = file === undefined ? undefined : await findConfig(file)
  const store = config?.values.store ?? (await rememberedSettings(state))?.store
  return openStore(store ?? { kind: 'local', directory: join(state, 'values') })
}
