import { Command } from 'commander'
import { PtcError } from '../../../common/errors.js'
import { unlessAborted } from '../../../common/abort.js'
import { catchInterrupts } from '../interrupts.js'
import { say } from '../terminal.js'

/** `ptc cancel ID`. */
export function cancelCommand(): Command {
  return new Command('cancel')
    .description('ask a run to stop; tools under way are told, its sandbox is removed')
    .argument('<id>', 'id of the run, as `ptc list` shows it')
    .action(cancel)
}

async function cancel(id: string): Promise<void> {
  using interrupts = catchInterrupts()
  const { openPlace } = await import('../place.js')
  const { inWords } = await import('../../render/status-mark.js')
  await using place = await openPlace({ config: false, otherwise: 'fail', interrupts })
  const handle = place.ptc.handle(id)
  const { status, outcome } = await unlessAborted(interrupts.first, handle.describe())
  if (status !== 'running' && status !== 'paused') {
    throw new PtcError('TEMPORAL_NOT_FOUND', `run ${id} has already ended (${inWords(outcome ?? status)})`)
  }
  await unlessAborted(interrupts.first, handle.cancel())
  say(`run ${id} was asked to stop; \`ptc watch ${id}\` shows how it ends`)
  const { sayUntaken } = await import('../unserved-notice.js')
  const isUntaken = await unlessAborted(interrupts.first, sayUntaken(place, { workflowId: id }))
  if (isUntaken) say('the run stops when a worker does')
}
