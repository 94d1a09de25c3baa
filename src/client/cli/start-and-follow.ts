import type { Role } from '../../common/names.js'
import type { BackendChoice } from '../../common/plan.js'
import type { AgentResult, ProgramResult } from '../../common/runs.js'
import type { PtcClient } from '../client.js'
import type { RunHandle } from '../run-handle.js'
import { announce, follow } from './follow.js'
import { unlessAborted } from '../../common/abort.js'
import { catchInterrupts, type Interrupts } from './interrupts.js'
import { openPlace, type Place, warnWithoutWorkers } from './place.js'
import { failureReport } from './run-report.js'
import { showEnding } from './show-ending.js'
import { print } from './terminal.js'

export interface StartOptions {
  /** What must be served for the run to go on. */
  readonly roles: readonly Role[]
  readonly config: string | undefined
  readonly sandbox: BackendChoice | undefined
  readonly json: boolean
  /** Leave when the run has been started. */
  readonly detach: boolean
}

type Start = (ptc: PtcClient) => Promise<RunHandle<AgentResult | ProgramResult>>

/**
 * Starts a run where runs are, follows it, shows how it ended, and sets the exit code.
 *
 * @param prepare reads what the run is about, before anything is started for it
 */
export async function startAndFollow(prepare: () => Promise<Start>, options: StartOptions): Promise<void> {
  using interrupts = catchInterrupts()
  try {
    const start = await unlessAborted(interrupts.first, prepare())
    const { config, sandbox, detach } = options
    await using place = await openPlace({ config, sandbox, otherwise: detach ? 'fail' : 'work', interrupts })
    await (detach ? startOnly(start, place, options) : startAndWait(start, place, options, interrupts))
  } catch (thrown) {
    // One object whatever happens: a script need not tell a failed run from one that could not start.
    if (options.json) print(JSON.stringify(failureReport(thrown)))
    throw thrown
  }
}

async function startOnly(start: Start, place: Place, { roles, json }: StartOptions): Promise<void> {
  await warnWithoutWorkers(place, roles)
  const { workflowId, runId } = await start(place.ptc)
  print(json ? JSON.stringify({ workflowId, runId, status: 'running' }) : workflowId)
}

async function startAndWait(
  start: Start,
  place: Place,
  { roles, json }: StartOptions,
  interrupts: Interrupts,
): Promise<void> {
  await place.requireWorkers(roles)
  const handle = await start(place.ptc)
  announce(handle, place)
  const followed = await follow(handle, { place, interrupts, onInterrupt: 'cancel' })
  process.exitCode = showEnding(followed, json)
}
