import type { PtcClient } from '../../client/client.js'
import type { RunHandle } from '../../client/run/run-handle.js'
import { checkInput } from '../../client/start/check-input.js'
import { type StartOptions, validateStart } from '../../client/start/start-options.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { programRoles, roles } from '../../common/names.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import type { AgentInput, AgentResult, ProgramInput, ProgramResult } from '../../common/run/runs.js'
import type { TaskMode } from '../../common/agent/task-modes.js'
import { openEnvironment } from '../environment/environment.js'
import { warnIfNoWorkers } from '../environment/worker-warnings.js'
import { exitCodes } from '../process/exit-code.js'
import { listenForInterrupts } from '../process/interrupts.js'
import { readText } from '../process/read-text.js'
import { print } from '../process/stdio.js'
import { followRun, printRunLink } from './follow-run.js'
import { printRunEnding } from './print-run-ending.js'
import { type AgentOptions, chosenAgent, type OverrideOptions, readAttachedFiles, readOverrides } from './options.js'
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
}

/** Starts a run, follows it, prints how it ended; returns the exit code. */
export async function startRun(request: RunRequest, options: StartRunOptions): Promise<number> {
  using interrupts = listenForInterrupts()
  const { config, sandbox, json = false, detach = false } = options
  const requiredRoles = request.type === 'agent' ? roles : programRoles
  try {
    const input = await raceWithSignal(interrupts.first, readInput(request, options))
    const ifNoServer = detach ? 'fail' : 'start_with_worker'
    await using environment = await openEnvironment({ config, sandbox, ifNoServer, interrupts })
    if (detach) await warnIfNoWorkers(environment, requiredRoles)
    else await environment.requireWorkers(requiredRoles)
    const handle = await start(environment, input, options)
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

type RunInput =
  | { readonly type: 'agent'; readonly input: AgentInput }
  | { readonly type: 'program'; readonly input: ProgramInput }

/** Reads and checks the input before the command starts a server or a worker. */
async function readInput(request: RunRequest, options: StartRunOptions): Promise<RunInput> {
  const { type } = request
  const { id } = options
  const overrides = await readOverrides(options)
  const text = await (type === 'agent' ? readQuestion(request.question) : readText(request.script))
  validateStart(type, text, startOptions(id))
  if (type === 'program') return checked({ type, input: { source: text, ...overrides } })
  const attachments = await readAttachedFiles(request.options.attach)
  const mode = request.mode !== undefined && { mode: request.mode }
  const attached = attachments.length > 0 && { attachments }
  return checked({
    type,
    input: { question: text, ...attached, ...chosenAgent(request.options), ...mode, ...overrides },
  })
}

function checked(input: RunInput): RunInput {
  checkInput(input.type, input.input)
  return input
}

async function readQuestion(question: string): Promise<string> {
  return question === '-' ? readText('-') : question
}

function start(
  { ptc }: { readonly ptc: PtcClient },
  run: RunInput,
  { id }: StartRunOptions,
): Promise<RunHandle<AgentResult | ProgramResult>> {
  const options = startOptions(id)
  return run.type === 'agent' ? ptc.startAgent(run.input, options) : ptc.startProgram(run.input, options)
}

/** A command that is repeated, by mistake or by a script, does not pay for a completed run again. */
function startOptions(id: string | undefined): StartOptions {
  return id === undefined ? {} : { workflowId: id, workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' }
}

function printDetached({ workflowId, runId }: RunHandle<unknown>, json: boolean): number {
  print(json ? JSON.stringify({ workflowId, runId, status: 'running' }) : workflowId)
  return exitCodes.ok
}
