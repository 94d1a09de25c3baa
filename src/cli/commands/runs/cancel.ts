import { Command } from 'commander'
import { withEnvironment } from '../../environment/with-environment.js'
import { printStatus } from '../../process/stdio.js'

export function cancelCommand(): Command {
  return new Command('cancel')
    .description('request cancellation of a run: running tools receive it, the sandbox is removed')
    .argument('<id>', 'id of the run, as `ptc list` shows it')
    .action(cancel)
}

async function cancel(id: string): Promise<void> {
  await withEnvironment({ load: 'never', ifNoServer: 'fail' }, async (environment) => {
    const { runEndedError } = await import('../../../client/run/use-budget.js')
    const { warnIfTaskNotTaken } = await import('../../environment/worker-warnings.js')
    const handle = environment.ptc.handle(id)
    const { status, outcome } = await handle.describe()
    if (status !== 'running' && status !== 'paused') throw runEndedError(id, outcome ?? status)
    await handle.cancel()
    printStatus(`the cancellation of run ${id} is requested; \`ptc watch ${id}\` shows how it ends`)
    const isUntaken = await warnIfTaskNotTaken(environment, { workflowId: id })
    if (isUntaken) printStatus('the run stops when a worker takes its cancellation')
  })
}
