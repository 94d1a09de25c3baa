import { Command, Option } from 'commander'
import { PtcError } from '../../../common/errors.js'
import { pluralize } from '../../../common/text/text.js'
import type { MemoryAdministration, ScopeSummary } from '../../../tools/memory/administration.js'
import { listenForInterrupts } from '../../process/interrupts.js'
import { print, printStatus } from '../../process/stdio.js'
import { renderColumns } from '../../rendering/tables/column-table.js'
import { formatDecimalBytes } from '../../rendering/tables/store-table.js'
import { oneLine } from '../../rendering/text/sanitize.js'
import { type ConfigOption, configOption, type JsonOption, subcommand } from '../options.js'

interface Options extends ConfigOption, JsonOption {
  readonly tool?: string
}

interface EraseOptions extends Options {
  readonly dryRun?: boolean
}

/** `ptc memory`. It needs no server. */
export function memoryCommand(): Command {
  return new Command('memory')
    .description('list, export and erase what models keep in memories')
    .addCommand(subcommand('list', 'list the scopes with files', 'the list').addOption(toolOption()).action(list))
    .addCommand(
      new Command('export')
        .description('print the files of a scope as JSON')
        .argument('<scope>', 'the scope, as `ptc memory list` shows it')
        .addOption(configOption())
        .addOption(toolOption())
        .action(exportScope),
    )
    .addCommand(
      subcommand('erase', 'delete the files of a scope', 'what was erased')
        .argument('<scope>', 'the scope, as `ptc memory list` shows it')
        .addOption(toolOption())
        .option('-n, --dry-run', 'report only, erase nothing')
        .addHelpText(
          'after',
          `
What a model has read from a memory is also in the history of its run: erase that with \`ptc values erase\`. An erased
memory can't be restored.`,
        )
        .action(erase),
    )
}

function toolOption(): Option {
  return new Option('--tool <name>', 'name of the memory, when the configuration has several')
}

async function list({ config, json, tool }: Options): Promise<void> {
  await withMemory({ config, tool }, async (memory, signal) => {
    const scopes: ScopeSummary[] = []
    for await (const scope of memory.list(signal)) scopes.push(scope)
    scopes.sort((a, b) => (a.scope < b.scope ? -1 : 1))
    if (json === true) return print(JSON.stringify(scopes, null, 2))
    if (scopes.length === 0) return printStatus('no scope has files')
    const rows = scopes.map(({ scope, files, bytes, changedAt }) => {
      return [oneLine(scope), String(files), formatDecimalBytes(bytes), changedAt.toISOString()]
    })
    print(renderColumns([['SCOPE', 'FILES', 'SIZE', 'CHANGED'], ...rows], undefined))
  })
}

async function exportScope(scope: string, { config, tool }: Options): Promise<void> {
  await withMemory({ config, tool }, async (memory, signal) => {
    print(JSON.stringify({ scope, files: await memory.export(scope, signal) }, null, 2))
  })
}

async function erase(scope: string, { config, json, tool, dryRun = false }: EraseOptions): Promise<void> {
  await withMemory({ config, tool }, async (memory, signal) => {
    const erased = await memory.erase(scope, dryRun, signal)
    if (json === true) return print(JSON.stringify({ scope, dryRun, ...erased }, null, 2))
    const what = `${pluralize(erased.files, 'file')} (${formatDecimalBytes(erased.bytes)})`
    print(`${dryRun ? 'would erase' : 'erased'} ${what} of ${oneLine(scope)}`)
  })
}

/** @throws PtcError CONFIG_INVALID when the configuration has no such memory, or several and none is named */
async function withMemory(
  { config, tool }: { readonly config: string | undefined; readonly tool: string | undefined },
  use: (memory: MemoryAdministration, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  using interrupts = listenForInterrupts()
  const { loadProject } = await import('../../environment/project.js')
  const { administrationOf } = await import('../../../tools/memory/memory.js')
  const { sources } = (await loadProject(config)).config.tools
  const memories = sources.flatMap((source) => administrationOf(source) ?? [])
  const named = memories.filter(({ name }) => tool === undefined || name === tool)
  const [found] = named
  if (found === undefined || named.length > 1) {
    const names = memories.map(({ name }) => name).join(', ')
    const problem = found === undefined ? 'has no such memory' : 'has several memories'
    throw new PtcError('CONFIG_INVALID', `the configuration ${problem}`, {
      hint: names === '' ? 'Add `memory({ … })` to its `tools`.' : `Name one with --tool: ${names}.`,
    })
  }
  await using memory = found
  await use(memory, interrupts.first)
}
