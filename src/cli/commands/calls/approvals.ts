import { setTimeout as delay } from 'node:timers/promises'
import { Command, Option } from 'commander'
import type { FoundWaits } from '../../../client/calls/open-waits.js'
import type { WaitOfRun } from '../../../client/index.js'
import { defined } from '../../../common/defined.js'
import { type ErrorCode, PtcError } from '../../../common/errors.js'
import { withEnvironment } from '../../environment/with-environment.js'
import { print, printStatus, printStyled } from '../../process/stdio.js'
import { stdoutLayout } from '../../rendering/text/colors.js'
import { waitKey } from '../../rendering/text/waits.js'
import { describeLimit, readOpenWaits } from '../../run/find-waiting-call.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'

interface Options extends ConfigOption, JsonOption {
  readonly watch?: true
}

const watchIntervalMs = 3_000

export function approvalsCommand(): Command {
  return new Command('approvals')
    .description('list what runs wait for: approvals, answers, results of deferred calls, larger budgets')
    .argument('[run]', 'id of the only run to list, with its sub-agents (default: all runs)')
    .addOption(new Option('-w, --watch', 'print new waits, until interrupted').conflicts('json'))
    .addOption(configOption())
    .addOption(jsonOption('an array of waits, with the tokens of calls,'))
    .action(approvals)
}

async function approvals(run: string | undefined, { config, json, watch }: Options): Promise<void> {
  const options = { config, load: 'if_named', ifNoServer: 'start_read_only' } as const
  await withEnvironment(options, async (environment, signal) => {
    const { ptc } = environment
    const read = async (): Promise<FoundWaits> =>
      run === undefined ? readOpenWaits(environment) : { waits: await ptc.waits({ run }), limit: undefined }
    if (watch === true) return watchWaits(read, signal)
    const { waits, limit } = await read()
    if (limit !== undefined) printStatus(describeLimit(limit))
    if (json === true) return print(JSON.stringify(waits.map(toJson), null, 2))
    if (waits.length > 0) return printWaits(waits)
    printStatus(run === undefined ? `no run on task queue ${ptc.taskQueue} waits` : `run ${run} waits for nothing`)
  })
}

/** Errors of a server, or of a worker, that was there before and may come back. */
const awayCodes: readonly string[] = ['TEMPORAL_UNREACHABLE', 'WORKER_MISSING'] satisfies ErrorCode[]

/** Prints each wait once. A server or a worker that was there and is away is asked again. */
async function watchWaits(read: () => Promise<FoundWaits>, signal: AbortSignal): Promise<void> {
  const printed = new Set<string>()
  let wasThere = false
  let isLimited = false
  let wasAway = false
  for (;;) {
    try {
      const { waits, limit } = await read()
      if (limit !== undefined && !isLimited) printStatus(describeLimit(limit))
      isLimited = limit !== undefined
      const added = waits.filter((each) => !printed.has(keyOf(each)))
      if (added.length > 0) await printWaits(waits, added)
      for (const each of added) printed.add(keyOf(each))
      wasThere = true
      wasAway = false
    } catch (thrown) {
      const isAway = PtcError.isInstance(thrown) && awayCodes.includes(thrown.code)
      if (!wasThere || !isAway) throw thrown
      if (!wasAway) printStatus(`${thrown.message}; trying again`)
      wasAway = true
    }
    await delay(watchIntervalMs, undefined, { signal })
  }
}

function keyOf({ run, wait }: WaitOfRun): string {
  return `${run.workflowId} ${waitKey(wait)}`
}

/** @param shown those of the waits that are printed; a command names its call when the run has others */
async function printWaits(waits: readonly WaitOfRun[], shown = waits): Promise<void> {
  const { renderWaits } = await import('../../rendering/tables/wait-table.js')
  printStyled(renderWaits(waits, { now: Date.now(), ...stdoutLayout(), shown }))
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
