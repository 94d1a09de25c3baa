import type { RunHandle } from '../../client/run/run-handle.js'
import { type CheckedStart, checkStart, type StartOptions } from '../../client/start/start-options.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { defined } from '../../common/defined.js'
import { programRoles, roles } from '../../common/names.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import type { TaskMode } from '../../common/agent/task-modes.js'
import { openEnvironment } from '../environment/environment.js'
import { warnIfNoWorkers } from '../environment/worker-warnings.js'
import { exitCodes } from '../process/exit-code.js'
import { listenForInterrupts } from '../process/interrupts.js'
import { readText } from '../process/read-text.js'
import { print } from '../process/stdio.js'
import { followRun, printRunLink } from './follow-run.js'
import { printRunEnding } from './print-run-ending.js'
import {
  type AgentOptions,
  chosenAgent,
  languageOfProgram,
  type OverrideOptions,
  readAttachedFiles,
  readOverrides,
  readUploads,
} from './options.js'
import { failureReport } from './run-report.js'

/** The run that a command line asks for. */
type RunRequest =
  /** `question` is `-` for standard input. */
  | {
      readonly type: 'agent'
      readonly question: string
      readonly mode: TaskMode | undefined
      readonly options: AgentOptions
    }
  /** `script` is a file, or `-` for standard input. */
  | { readonly type: 'program'; readonly script: string }

interface StartRunOptions extends OverrideOptions {
  readonly id?: string
  readonly config?: string
  readonly sandbox?: BackendChoice
  readonly json?: boolean
  /** Starts the run, prints its id, and returns without waiting. */
  readonly detach?: boolean
  /** Paths of files. */
  readonly upload?: readonly string[]
}

/** Starts a run, follows it, prints how it ended; returns the exit code. */
export async function startRun(request: RunRequest, options: StartRunOptions): Promise<number> {
  using interrupts = listenForInterrupts()
  const { config, sandbox, json = false, detach = false } = options
  const requiredRoles = request.type === 'agent' ? roles : programRoles
  try {
    const start = await raceWithSignal(interrupts.first, readStart(request, options))
    const ifNoServer = detach ? 'fail' : 'start_with_worker'
    await using environment = await openEnvironment({ config, sandbox, ifNoServer, interrupts })
    if (detach) await warnIfNoWorkers(environment, requiredRoles)
    else await environment.requireWorkers(requiredRoles)
    const handle = await environment.startRun(start)
    if (detach) return printDetached(handle, json)
    printRunLink(handle, environment)
    const ending = await followRun(handle, { environment, interrupts, onInterrupt: 'cancel' })
    return printRunEnding(ending, json)
  } catch (thrown) {
    // A script gets the same object for a run that failed and for a run that could not start.
    if (json) print(JSON.stringify(failureReport(thrown)))
    throw thrown
  }
}

/** Reads and checks the input before the command starts a server or a worker. */
async function readStart(request: RunRequest, options: StartRunOptions): Promise<CheckedStart> {
  const overrides = { ...(await readOverrides(options)), ...(await readUploads(options.upload)) }
  const start = startOptions(options.id)
  if (request.type === 'program') {
    const language = languageOfProgram(request.script, options.language)
    return checkStart(
      'program',
      { source: await readText(request.script), ...overrides, ...defined({ language }) },
      start,
    )
  }
  const question = request.question === '-' ? await readText('-') : request.question
  const attachments = await readAttachedFiles(request.options.attach)
  const { mode } = request
  const input = {
    question,
    ...(attachments.length > 0 && { attachments }),
    ...chosenAgent(request.options),
    ...defined({ mode }),
    ...overrides,
  }
  return checkStart('agent', input, start)
}

/** A command that is repeated, by mistake or by a script, does not pay for a completed run again. */
function startOptions(id: string | undefined): StartOptions {
  return id === undefined ? {} : { workflowId: id, workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' }
}

function printDetached({ workflowId, runId }: RunHandle<unknown>, json: boolean): number {
  print(json ? JSON.stringify({ workflowId, runId, status: 'running' }) : workflowId)
  return exitCodes.ok
}
