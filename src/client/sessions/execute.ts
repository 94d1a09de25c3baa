import { randomUUID } from 'node:crypto'
import {
  ApplicationFailure,
  type Client,
  WithStartWorkflowOperation,
  type Workflow,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type WorkflowUpdateHandle,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  WorkflowUpdateStage,
} from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { sessionMessages, workflowNames } from '../../common/names.js'
import type { RunOptions } from '../../common/runs.js'
import { type Executed, type ExecuteInput, executionBytes, type SessionInput } from '../../common/sessions.js'
import type { RunTree } from '../history/index.js'
import { checkInput, checkKeys } from '../check-input.js'
import { waitPatiently } from '../patience.js'
import { runError } from '../run-error.js'
import { checkStart } from '../start-options.js'
import { mayPass } from '../temporal-error.js'
import { interruptSession } from './interrupt.js'
import { latestSession, sessionEnd, type SessionEnding, sessionOver } from './ending.js'
import { sessionWorkflowId } from './name.js'
import { watchAcceptance } from './watch-acceptance.js'
import { watchExecution } from './watch-execution.js'

export interface ExecuteOptions extends Pick<RunOptions, 'sandbox' | 'limits'> {
  /** Fail when there is no such session, instead of beginning one. */
  readonly mustExist?: boolean
  /** Aborted: the code is interrupted, as by Ctrl-C; the session lives on, and the outcome is `stopped`. */
  readonly signal?: AbortSignal
  /** Called with what the code does (its calls, for one), about twice a second; best effort. */
  readonly onChange?: (tree: RunTree) => void
}

const optionNames = [
  'mustExist',
  'sandbox',
  'limits',
  'signal',
  'onChange',
] as const satisfies readonly (keyof ExecuteOptions)[]

/** What came of code that was executed on a session. */
export interface SessionExecution extends Executed {
  readonly session: string
  readonly workflowId: string
  readonly runId: string
  /** Of a new session: how the one of this name before it ended; undefined when there was none. */
  readonly previous: SessionEnding | undefined
}

/** A long poll that lasted for so long and ended without an answer was one. */
const longPollMs = 5_000

/**
 * Executes code on the session of this name, once it is its turn; begins the session when there is none.
 *
 * @throws PtcError RUN_INPUT_INVALID; SESSION_NOT_FOUND, SESSION_EXPIRED only with `mustExist`; SESSION_CLOSED when it was
 * closed meanwhile; SESSION_FULL; TEMPORAL_UNREACHABLE; what opening a sandbox throws; and the signal's reason when it was
 * aborted before anything was sent
 */
export async function executeOnSession(
  client: Client,
  taskQueue: string,
  name: string,
  source: string,
  options: ExecuteOptions,
): Promise<SessionExecution> {
  checkKeys('the options', options, optionNames)
  const { mustExist = false, sandbox, limits, signal, onChange } = options
  const workflowId = sessionWorkflowId(taskQueue, name)
  checkInput('execution', { source, sandbox, limits })
  checkSource(source)
  const wishes = { ...(sandbox === undefined ? {} : { sandbox }), ...(limits === undefined ? {} : { limits }) }
  const updateId = randomUUID()
  const input: SessionInput = { name, openedBy: updateId, ...wishes }
  const args: [ExecuteInput] = [{ source, ...(sandbox === undefined ? {} : { sandbox }) }]
  const update = { args, updateId, waitForStage: WorkflowUpdateStage.ACCEPTED } as const
  for (;;) {
    signal?.throwIfAborted()
    const before = await latestSession(client, workflowId)
    if (before.type !== 'running' && mustExist) {
      throw sessionOver(name, before.type === 'none' ? undefined : before.ending)
    }
    try {
      const send = () =>
        before.type === 'running'
          ? client.workflow
              .getHandle(workflowId, before.runId)
              .startUpdate<Executed, [ExecuteInput]>(sessionMessages.execute, update)
          : client.workflow.startUpdateWithStart<Workflow, Executed, [ExecuteInput]>(sessionMessages.execute, {
              ...update,
              startWorkflowOperation: new WithStartWorkflowOperation<Workflow>(workflowNames.session, {
                workflowId,
                taskQueue,
                args: [input],
                workflowIdConflictPolicy: 'USE_EXISTING',
                staticSummary: `session ${name}`,
                memo: { summary: `session ${name}` },
              }),
            })
      const handle = await (onChange === undefined
        ? send()
        : whileWatching((over) => watchAcceptance(client, taskQueue, onChange, over), send))
      const { workflowRunId: runId = '' } = handle
      const interrupt = () => interruptSession(client, { workflowId, runId }, { execution: updateId })
      const answer = () => whileHeeding(signal, interrupt, () => answerOf(handle, name))
      const watched = { workflowId, runId, updateId, source }
      const executed = await (onChange === undefined
        ? answer()
        : whileWatching((over) => watchExecution(client, watched, onChange, over), answer))
      const previous = executed.isNew && before.type === 'over' ? before.ending : undefined
      return { session: name, workflowId, runId, previous, ...executed }
    } catch (thrown) {
      // Over, or about to be: nothing was executed. The next look tells how it ended.
      if (thrown instanceof WorkflowNotFoundError && before.type === 'running') continue
      const error = runError(thrown, workflowId)
      if (error.code === 'SESSION_FULL')
        throw new PtcError(error.code, error.message, { hint: fullHint(name), cause: thrown })
      if (error.code !== 'SESSION_EXPIRED') throw error
      if (before.type === 'running') await sessionEnd(client, before)
    }
  }
}

/** As the session itself would say, but before there is one. */
function checkSource(source: string): void {
  checkStart('program', source, {})
  const bytes = Buffer.byteLength(source)
  if (bytes <= executionBytes) return
  throw new PtcError('RUN_INPUT_INVALID', `the program has ${bytes} bytes; a session takes up to ${executionBytes}`, {
    hint: 'Give large data through a tool.',
  })
}

function fullHint(name: string): string {
  return `Keep what you need outside, then \`ptc sessions close ${name}\`: the next execution begins it anew.`
}

/** Waits for work, and interrupts it when the signal is aborted. */
async function whileHeeding<Result>(
  signal: AbortSignal | undefined,
  interrupt: () => Promise<void>,
  work: () => Promise<Result>,
): Promise<Result> {
  // Over already, or the server does not answer: the work itself says so.
  const onAbort = (): void => void interrupt().catch(() => undefined)
  if (signal?.aborted === true) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await work()
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

/**
 * Waits for work, and watches it meanwhile.
 *
 * @param watch never rejects; ends when the signal is aborted
 */
async function whileWatching<Result>(
  watch: (signal: AbortSignal) => Promise<void>,
  work: () => Promise<Result>,
): Promise<Result> {
  const over = new AbortController()
  const watching = watch(over.signal)
  try {
    return await work()
  } finally {
    over.abort()
    await watching
  }
}

/** The answer of an accepted update: it is durable, so a server that is away for a moment is waited for. */
async function answerOf(update: WorkflowUpdateHandle<Executed>, name: string): Promise<Executed> {
  const passes = (thrown: unknown): boolean =>
    thrown instanceof WorkflowUpdateRPCTimeoutOrCancelledError || mayPass(thrown)
  try {
    return await waitPatiently(() => update.result(), { passes, answeredMs: longPollMs })
  } catch (thrown) {
    if (!endedUnderIt(thrown)) throw thrown
    const message = `session ${name} ended before the code had come to its end`
    throw new PtcError('SESSION_CLOSED', message, { cause: thrown })
  }
}

/** The workflow was terminated, or it is so long ago that the server has forgotten it. */
function endedUnderIt(thrown: unknown): boolean {
  if (thrown instanceof WorkflowNotFoundError) return true
  if (!(thrown instanceof WorkflowUpdateFailedError) || !(thrown.cause instanceof ApplicationFailure)) return false
  // The server's own word.
  return thrown.cause.type === 'AcceptedUpdateCompletedWorkflow'
}
