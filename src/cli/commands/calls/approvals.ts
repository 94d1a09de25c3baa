import { setTimeout as delay } from 'node:timers/promises'
import { Command, Option } from 'commander'
import type { WaitOfRun } from '../../../client/index.js'
import { defined } from '../../../common/defined.js'
import { PtcError } from '../../../common/errors.js'
import type { Environment } from '../../environment/environment.js'
import { withEnvironment } from '../../environment/with-environment.js'
import { print, printStatus, printStyled } from '../../process/stdio.js'
import { describeLimit, readOpenWaits } from '../../run/find-waiting-call.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'

interface Options extends ConfigOption, JsonOption {
  readonly watch?: true
}

const watchIntervalMs = 3_000

export function approvalsCommand(): Command {
  return new Command('approvals')
    .description('what all runs wait for: approvals, answers, results of deferred calls, spent budgets')
    .addOption(new Option('-w, --watch', 'print new waits, until interrupted').conflicts('json'))
    .addOption(configOption())
    .addOption(jsonOption('an array of waits'))
    .action(approvals)
}

async function approvals({ config, json, watch }: Options): Promise<void> {
  const options = { config, load: 'if_named', ifNoServer: 'start_read_only' } as const
  await withEnvironment(options, async (environment, signal) => {
    if (watch === true) return watchWaits(environment, signal)
    const { waits, limit } = await readOpenWaits(environment)
    if (limit !== undefined) printStatus(describeLimit(limit))
    if (json === true) return print(JSON.stringify(waits.map(toJson), null, 2))
    if (waits.length === 0) return printStatus(`no run on task queue ${environment.ptc.taskQueue} waits`)
    printStyled(await formatWaits(waits))
  })
}

/** Prints each wait once. A server that was there and is down is asked again. */
async function watchWaits(environment: Environment, signal: AbortSignal): Promise<void> {
  const printed = new Set<string>()
  let { waits, limit } = await readOpenWaits(environment)
  if (limit !== undefined) printStatus(describeLimit(limit))
  let isDown = false
  for (;;) {
    const added = waits.filter((each) => !printed.has(keyOf(each)))
    if (added.length > 0) printStyled(await formatWaits(waits, added))
    for (const each of added) printed.add(keyOf(each))
    await delay(watchIntervalMs, undefined, { signal })
    try {
      const wasComplete = limit === undefined
      ;({ waits, limit } = await readOpenWaits(environment))
      if (limit !== undefined && wasComplete) printStatus(describeLimit(limit))
      isDown = false
    } catch (thrown) {
      if (!PtcError.isInstance(thrown) || thrown.code !== 'TEMPORAL_UNREACHABLE') throw thrown
      if (!isDown) printStatus(`${thrown.message}; trying again`)
      isDown = true
    }
  }
}

function keyOf({ run, wait }: WaitOfRun): string {
  return `${run.workflowId} ${wait.type === 'budget' ? wait.since : wait.token}`
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

/** @param shown those of the waits that are printed; a command names its call when the run has others */
async function formatWaits(waits: readonly WaitOfRun[], shown = waits): Promise<string> {
  const { renderWaits } = await import('../../rendering/tables/wait-table.js')
  const { supportsColor } = await import('../../rendering/text/colors.js')
  const { stdout, env } = process
  const width = stdout.isTTY ? stdout.columns : undefined
  return renderWaits(waits, { now: Date.now(), width, color: supportsColor(stdout, env), shown })
}
