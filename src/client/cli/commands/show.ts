import { Command, Option } from 'commander'
import { unlessAborted } from '../../../common/abort.js'
import { catchInterrupts } from '../interrupts.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption, runId } from '../options.js'
import { print, printDrawn } from '../terminal.js'

interface Options extends ConfigOption, JsonOption {
  readonly full?: boolean
  readonly run?: string
}

/** `ptc show ID`. */
export function showCommand(): Command {
  return new Command('show')
    .description('draw a run, finished or not, as a tree: turns, code, calls, tokens, cost')
    .argument('<id>', 'id of the run, as `ptc list` shows it')
    .addOption(
      new Option(
        '--run <run-id>',
        'one run of several with this id (default: the latest); any run id of a long run stands for all of it',
      ).argParser(runId),
    )
    .addOption(new Option('-f, --full', 'nothing cut short'))
    .addOption(configOption())
    .addOption(jsonOption('the tree'))
    .action(show)
}

async function show(id: string, { config, json, full, run }: Options): Promise<void> {
  using interrupts = catchInterrupts()
  const { openPlace } = await import('../place.js')
  const { withIsoTimes } = await import('../iso-times.js')
  const { renderTree, wantsColor } = await import('../../render/index.js')

  await using place = await openPlace({ config, reads: true, otherwise: 'look', interrupts })
  const tree = await unlessAborted(interrupts.first, place.ptc.handle(id, run).tree({ full: full === true }))
  if (json === true) return print(JSON.stringify(withIsoTimes(tree), null, 2))
  const { stdout } = process
  const width = stdout.isTTY ? stdout.columns : 120
  printDrawn(renderTree(tree, { width, color: wantsColor(stdout, process.env), full: full === true }))
}
