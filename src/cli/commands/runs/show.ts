import { Command, Option } from 'commander'
import { withEnvironment } from '../../environment/with-environment.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption, parseRunId } from '../options.js'
import { stdoutLayout } from '../../rendering/text/colors.js'
import { print, printStyled } from '../../process/stdio.js'

interface Options extends ConfigOption, JsonOption {
  readonly full?: boolean
  readonly run?: string
}

export function showCommand(): Command {
  return new Command('show')
    .description('show a run, finished or not, as a tree: turns, code, calls, tokens, cost')
    .argument('<id>', 'id of the run, as `ptc list` shows it')
    .addOption(
      new Option(
        '--run <run-id>',
        'one of several runs with this id (default: the latest); any run id of its continue-as-new chain identifies it',
      ).argParser(parseRunId),
    )
    .addOption(new Option('-f, --full', 'show everything untruncated'))
    .addOption(configOption())
    .addOption(jsonOption('the tree'))
    .action(show)
}

async function show(id: string, { config, json, full, run }: Options): Promise<void> {
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'start_read_only' }, async ({ ptc }) => {
    const { withIsoTimes } = await import('../../run/iso-times.js')
    const { renderTree } = await import('../../rendering/tree/render-tree.js')
    const { withNestedWaits } = await import('../../../client/calls/waits-of-run.js')
    const tree = await withNestedWaits(ptc, await ptc.handle(id, run).tree({ full: full === true }))
    if (json === true) return print(JSON.stringify(withIsoTimes(tree), null, 2))
    const { width = 120, color } = stdoutLayout()
    printStyled(renderTree(tree, { width, color, full: full === true }))
  })
}
