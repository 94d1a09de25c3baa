import { Command } from 'commander'
import { programRoles, roles } from '../../../common/names.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'
import { catchInterrupts, type Interrupts } from '../interrupts.js'
import type { Place } from '../place.js'

/** `ptc watch ID`. */
export function watchCommand(): Command {
  return new Command('watch')
    .description('follow a run to its end; one that was interrupted goes on')
    .argument('<id>', 'id of the run, as `ptc list` shows it')
    .addOption(configOption())
    .addOption(jsonOption('one object, as `ptc run --json` does,'))
    .addHelpText('after', '\nCtrl-C stops watching; the run goes on. Exit code as of `ptc run`.')
    .action(watch)
}

async function watch(id: string, { config, json }: ConfigOption & JsonOption): Promise<void> {
  using interrupts = catchInterrupts()
  const { announce, follow } = await import('../follow.js')
  const { warnWithoutWorkers } = await import('../place.js')
  const { showEnding } = await import('../show-ending.js')

  await using place = await placeOf(id, config, interrupts)
  const { runId, status, type } = await place.ptc.handle(id).describe()
  // Without the configuration it is not known whether the run has tools; the tree says when a call waits for a worker.
  const needed = (type === 'program' ? programRoles : roles).filter((role) => role !== 'tools')
  if (status === 'running') await warnWithoutWorkers(place, needed)
  const handle = place.ptc.handle(id, runId)
  announce(handle, place)
  const followed = await follow(handle, { place, interrupts, onInterrupt: 'leave' })
  process.exitCode = showEnding(followed, json === true)
}

/** Where the run is. A worker is started only for a run that is open and that no worker can go on with: the server runs for us alone. */
async function placeOf(id: string, config: string | undefined, interrupts: Interrupts): Promise<Place> {
  const { openPlace } = await import('../place.js')
  const place = await openPlace({ config, reads: true, otherwise: 'look', interrupts })
  try {
    const { status } = await place.ptc.handle(id).describe()
    if (!place.isOurs || status !== 'running') return place
  } catch (thrown) {
    await place[Symbol.asyncDispose]()
    throw thrown
  }
  await place[Symbol.asyncDispose]()
  return openPlace({ config, otherwise: 'work', interrupts })
}
