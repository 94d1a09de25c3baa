import { Command } from 'commander'
import type { WaitOfRun } from '../../../client/index.js'
import { defined } from '../../../common/defined.js'
import { withEnvironment } from '../../environment/with-environment.js'
import { print, printStatus, printStyled } from '../../process/stdio.js'
import { stdoutLayout } from '../../rendering/text/colors.js'
import { describeLimit, readOpenWaits } from '../../run/find-waiting-call.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'

export function approvalsCommand(): Command {
  return new Command('approvals')
    .description('list what runs wait for: approvals, answers, results of deferred calls, larger budgets')
    .argument('[run]', 'id of the only run to list, with its sub-agents (default: all runs)')
    .addOption(configOption())
    .addOption(jsonOption('an array of waits, with the tokens of calls,'))
    .action(approvals)
}

async function approvals(run: string | undefined, { config, json }: ConfigOption & JsonOption): Promise<void> {
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'start_read_only' }, async (environment) => {
    const { renderWaits } = await import('../../rendering/tables/wait-table.js')
    const { ptc } = environment
    const { waits, limit } = await (run === undefined
      ? readOpenWaits(environment)
      : ptc.waits({ run }).then((found) => ({ waits: found, limit: undefined })))
    if (limit !== undefined) printStatus(describeLimit(limit))
    if (json === true) return print(JSON.stringify(waits.map(toJson), null, 2))
    if (waits.length > 0) return printStyled(renderWaits(waits, { now: Date.now(), ...stdoutLayout() }))
    printStatus(run === undefined ? `no run on task queue ${ptc.taskQueue} waits` : `run ${run} waits for nothing`)
  })
}

function toJson({ run, wait }: WaitOfRun): object {
  const { workflowId, agent, requester } = run
  const expires = wait.type !== 'budget' && { expiresAt: new Date(wait.expiresAt).toISOString() }
  return {
    run: workflowId,
    ...defined({ agent, requester }),
    ...wait,
    since: new Date(wait.since).toISOString(),
    ...expires,
  }
}
