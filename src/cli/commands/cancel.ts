import { Command } from 'commander'
import { PtcError } from '../../common/errors.js'
import { withEnvironment } from '../environment/with-environment.js'
import { printStatus } from '../process/stdio.js'

/** `ptc cancel ID`. */
export function cancelCommand(): Command {
  return new Command('cancel')
    .description('request cancellation of a run: running tools receive it, the sandbox is removed')
    .argument('<id>', 'id of the run, as `ptc list` shows it')
    .action(cancel)
}

async function cancel(id: string): Promise<void> {
  await withEnvironment({ load: 'never', ifNoServer: 'fail' }, async (environment) => {
    const { formatStatus } = await import('../rendering/tree/status-mark.js')
    const { warnIfTaskNotTaken } = await import('../environment/worker-warnings.js')
    const handle = environment.ptc.handle(id)
    const { status, outcome } = await handle.describe()
    if (status !== 'running' && status !== 'paused') {
      throw new PtcError('TEMPORAL_NOT_FOUND', `run ${id} has already ended (${formatStatus(outcome ?? status)})`)
    }
    await handle.cancel()
    printStatus(`run ${id} was asked to stop; \`ptc watch ${id}\` shows how it ends`)
    const isUntaken = await warnIfTaskNotTaken(environment, { workflowId: id })
    if (isUntaken) printStatus('the run stops when a worker does')
  })
}
