import { Command, Option } from 'commander'
import { pluralize } from '../../../common/text/text.js'
import { withEnvironment } from '../../environment/with-environment.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption, parseRunId } from '../options.js'
import { print } from '../../process/stdio.js'

interface Options extends ConfigOption, JsonOption {
  readonly run?: string
  readonly dryRun?: boolean
}

export function runsCommand(): Command {
  return new Command('runs').description('histories of finished runs').addCommand(
    new Command('erase')
      .description('delete a finished run from the server, its values from the store, and its live stream')
      .argument('<id>', 'id of the run, as `ptc list` shows it')
      .addOption(
        new Option('--run <run-id>', 'one of several runs with this id (default: the latest)').argParser(parseRunId),
      )
      .addOption(configOption())
      .addOption(jsonOption('what was erased'))
      .option('-n, --dry-run', 'report only, erase nothing')
      .addHelpText(
        'after',
        `
Values that another history of the namespace refers to stay: the answer that a parent workflow got, for example. Child
runs and named sessions have ids of their own: erase them as well. Nothing brings an erased run back.`,
      )
      .action(erase),
  )
}

async function erase(workflowId: string, { config, json, run, dryRun = false }: Options): Promise<void> {
  await withEnvironment({ config, ifNoServer: 'start_read_only' }, async ({ client, values, stream }, signal) => {
    const { eraseRun } = await import('../../../client/run/erase-run.js')
    const erased = await eraseRun(client, { store: values.valueStore, stream, workflowId, runId: run, dryRun, signal })
    if (json === true) return print(JSON.stringify({ workflowId, dryRun, ...erased }, null, 2))
    const { formatDecimalBytes } = await import('../../rendering/tables/store-table.js')
    const count = pluralize(erased.values.count, 'value')
    const what = `${pluralize(erased.runIds.length, 'execution')} and ${count} (${formatDecimalBytes(erased.values.bytes)})`
    print(`${dryRun ? 'would erase' : 'erased'} ${what} of ${workflowId}`)
  })
}
