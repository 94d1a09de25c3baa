import { Command } from 'commander'
import { programRoles, roles } from '../../../common/names.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'
import { catchInterrupts } from '../interrupts.js'

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
  const { openPlace, warnWithoutWorkers } = await import('../place.js')
  const { showEnding } = await import('../show-ending.js')

  await using place = await openPlace({ config, otherwise: 'work', interrupts })
  const { runId, state, type } = await place.ptc.handle(id).describe()
  if (state === 'running') await warnWithoutWorkers(place, type === 'program' ? programRoles : roles)
  const handle = place.ptc.handle(id, runId)
  announce(handle, place)
  const followed = await follow(handle, { place, interrupts, onInterrupt: 'leave' })
  process.exitCode = showEnding(followed, json === true)
}
