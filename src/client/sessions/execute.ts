import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Client,
  WithStartWorkflowOperation,
  type Workflow,
  WorkflowNotFoundError,
  type WorkflowUpdateHandle,
  WorkflowUpdateStage,
} from '@temporalio/client'
import { raceWithSignal, withAbortListener } from '../../common/async/abort.js'
import type { FileUpload } from '../../common/files/files.js'
import { digestJson } from '../../common/calls/call-identity.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { memoKeys, sessionMessages, workflowNames } from '../../common/names.js'
import { languageNameOf } from '../../common/run/language-names.js'
import type { ProgramInput } from '../../common/run/runs.js'
import {
  type ExecuteResult,
  type ExecuteInput,
  maxExecuteSourceBytes,
  type SessionInput,
} from '../../common/session/session.js'
import type { JsonValue } from '../../common/json/json.js'
import type { RunTree } from '../run-tree/index.js'
import { checkInput, checkKeys } from '../start/check-input.js'
import { storeUploads } from '../files/store-uploads.js'
import { retryLongPoll } from '../temporal/retry.js'
import { runError } from '../run/run-error.js'
import { checkSize, validateStart } from '../start/start-options.js'
import { isFailedPrecondition } from '../temporal/temporal-error.js'
import { isRepeatableUpdate, isUnanswered } from '../temporal/update-errors.js'
import { interruptSession } from './interrupt-session.js'
import { describeLatestSession, waitForSessionEnd, type SessionEnding, sessionEndedError } from './session-ending.js'
import { sessionWorkflowId } from './session-name.js'
import type { WorkflowExecution } from '../temporal/history-pages.js'
import { watchAcceptance } from './watch-acceptance.js'
import { watchExecution } from './watch-execution.js'
import { withRequestSignal } from '../temporal/request-signal.js'

export interface ExecuteOptions extends Pick<
  ProgramInput,
  'sandbox' | 'language' | 'limits' | 'network' | 'tools' | 'context' | 'input'
> {
  /**
   * Files for the code, in `/tmp/in`. The first execution of a session with files, also with none of them (`[]`), gives
   * the session files; or the configuration does.
   */
  readonly files?: readonly FileUpload[]
  /** The language of the code, one of those of the session. Default: its first. */
  readonly cellLanguage?: string
  /** When this execution starts the session, `commands` and `files` of `ptc.session(name)` can use it, too. */
  readonly environment?: true
  /** When true, the request fails if the session does not exist. By default, it starts the session. */
  readonly mustExist?: boolean
  /** Interrupts the code, as Ctrl-C does; the outcome is `stopped` and the session keeps its variables. */
  readonly signal?: AbortSignal
  /** Called with the progress of the code, such as its calls, about twice a second. Best effort. */
  readonly onChange?: (tree: RunTree) => void
  /** Called when the session has taken the code: {@link Sessions.result} then returns its result, in any process. */
  readonly onAccepted?: (execution: ExecutionId) => void
  /** Ends the wait, which rejects with the reason of the signal; the code continues. */
  readonly leaveSignal?: AbortSignal
}

/** Code that a session has taken. All members are texts for a client that continues to wait for its result. */
export interface ExecutionId {
  readonly session: string
  /** Run id of the workflow of the session. */
  readonly runId: string
  readonly updateId: string
}

export interface ResultOptions extends Pick<ExecuteOptions, 'signal' | 'onChange' | 'leaveSignal'> {
  /** The code, by which `onChange` finds its progress. */
  readonly source?: string
}

const optionNames = [
  'mustExist',
  'sandbox',
  'language',
  'cellLanguage',
  'environment',
  'limits',
  'network',
  'tools',
  'context',
  'input',
  'files',
  'signal',
  'onChange',
  'onAccepted',
  'leaveSignal',
] as const satisfies readonly (keyof ExecuteOptions)[]

const resultOptionNames = [
  'signal',
  'onChange',
  'leaveSignal',
  'source',
] as const satisfies readonly (keyof ResultOptions)[]

/** The result of code that was executed on a session. */
export interface SessionExecution extends ExecuteResult {
  readonly session: string
  readonly workflowId: string
  readonly runId: string
  /**
   * The end of the previous session of this name; undefined unless this session is new and there was a previous one.
   */
  readonly previous: SessionEnding | undefined
}

/** Maximum number of consecutive sessions that may end before they accept the code. */
const maxEndedSessions = 5
/** The pause after the first ended session; it doubles with each further one. */
const endedPauseMs = 50

/** A long poll that fails after more than this time had reached the server. */
const longPollMs = 5_000

/**
 * Queues code on the session of this name, and starts the session if needed.
 *
 * @throws PtcError with a code of `docs/reference/errors.md`
 */
export async function executeInSession(
  client: Client,
  taskQueue: string,
  name: string,
  source: string,
  options: ExecuteOptions,
): Promise<SessionExecution> {
  checkKeys('the options', options, optionNames)
  return untilLeft(client, options.leaveSignal, () => execute(client, taskQueue, name, source, options))
}

/**
 * Waits for the result of code that a session has taken.
 *
 * @throws PtcError SESSION_CLOSED, also when the server does not know the execution; the reason of `leaveSignal`
 */
export async function resultOfExecution(
  client: Client,
  taskQueue: string,
  { session, runId, updateId }: ExecutionId,
  options: ResultOptions,
): Promise<SessionExecution> {
  checkKeys('the options', options, resultOptionNames)
  const { leaveSignal } = options
  const workflowId = sessionWorkflowId(taskQueue, session)
  const update = client.workflow.getHandle(workflowId, runId).getUpdateHandle<ExecuteResult>(updateId)
  try {
    const accepted = { name: session, workflowId, runId, update }
    return await untilLeft(client, leaveSignal, () => followAccepted(client, accepted, options))
  } catch (thrown) {
    leaveSignal?.throwIfAborted()
    throw runError(thrown, workflowId)
  }
}

interface AcceptedExecution extends WorkflowExecution {
  /** Name of the session. */
  readonly name: string
  readonly update: WorkflowUpdateHandle<ExecuteResult>
}

/** Waits for the result of code that a session has taken, and reports the progress. */
async function followAccepted(
  client: Client,
  { name, workflowId, runId, update }: AcceptedExecution,
  { signal, onChange, leaveSignal, source }: ResultOptions,
): Promise<SessionExecution> {
  const { updateId } = update
  const interrupt = interruptOf(client, { workflowId, runId }, updateId)
  const result = await watchWhile(
    source === undefined ? undefined : onChange,
    (report, stopSignal) =>
      watchExecution(client, { workflowId, runId, updateId, source: source ?? '' }, report, stopSignal),
    () => withAbortListener(signal, interrupt, () => waitForResult(update, name, leaveSignal)),
  )
  return { session: name, workflowId, runId, previous: undefined, ...result }
}

/** Errors are ignored: when the code has ended or the server is unavailable, the wait for the result reports it. */
function interruptOf(client: Client, session: WorkflowExecution, updateId: string): () => void {
  return () => void interruptSession(client, session, { updateId }).catch(() => undefined)
}

/** Performs the work until the signal is aborted; then ends its requests, and rejects with the signal's reason. */
function untilLeft<Result>(
  client: Client,
  leaveSignal: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  if (leaveSignal === undefined) return work()
  return raceWithSignal(leaveSignal, withRequestSignal(client, leaveSignal, work))
}

async function execute(
  client: Client,
  taskQueue: string,
  name: string,
  source: string,
  options: ExecuteOptions,
): Promise<SessionExecution> {
  const {
    mustExist = false,
    sandbox,
    language,
    cellLanguage,
    environment,
    limits,
    network,
    tools,
    context,
    input,
    files,
    signal,
    onChange,
    onAccepted,
    leaveSignal,
  } = options
  const workflowId = sessionWorkflowId(taskQueue, name)
  const settings = { sandbox, language, environment, limits, network, tools, context, input }
  checkInput('execution', { source, cellLanguage, ...settings })
  checkSource(source)
  if (input !== undefined) checkSize(source, input, client.options.loadedDataConverter)
  const reliedOn = {
    ...defined({ sandbox, language: language && languageNameOf(language), context }),
    ...(input !== undefined && { inputDigest: digestJson(input) }),
    // Without members that are undefined.
    ...(network !== undefined && { networkDigest: digestJson(JSON.parse(JSON.stringify(network)) as JsonValue) }),
  }
  const overrides = {
    ...reliedOn,
    ...defined({ limits, network, tools, input, environment }),
    ...(files && { files: [] }),
  }
  const updateId = randomUUID()
  const sessionInput: SessionInput = { name, startedByUpdateId: updateId, ...overrides }
  const stored = files && (await storeUploads(client, files, defined({ signal })))
  const ownFiles = stored && stored.length > 0 && { files: stored }
  const args: [ExecuteInput] = [{ source, ...reliedOn, ...defined({ cellLanguage }), ...ownFiles }]
  const update: ExecuteUpdate = { args, updateId, waitForStage: WorkflowUpdateStage.ACCEPTED }
  for (let ended = 1; ; ended += 1) {
    signal?.throwIfAborted()
    const latest = await describeLatestSession(client, workflowId)
    if (latest.type !== 'running' && mustExist) {
      throw sessionEndedError(name, latest.type === 'none' ? undefined : latest.ending)
    }
    try {
      const sendUpdate = () =>
        latest.type === 'running'
          ? updateSession(client, latest, update)
          : startSession(client, { workflowId, taskQueue, input: sessionInput }, update)
      const handle = await watchWhile(
        onChange,
        (report, stopSignal) => watchAcceptance(client, taskQueue, report, stopSignal),
        // The update id is the same, so accepted code is not executed twice.
        () => retryLongPoll(sendUpdate, { isRetryable: isFailedPrecondition }),
      )
      const { workflowRunId: runId = '' } = handle
      onAccepted?.({ session: name, runId, updateId })
      const accepted = { name, workflowId, runId, update: handle }
      const result = await followAccepted(client, accepted, { ...defined({ signal, onChange, leaveSignal }), source })
      return { ...result, previous: result.isNew && latest.type === 'over' ? latest.ending : undefined }
    } catch (thrown) {
      const isGone = thrown instanceof WorkflowNotFoundError && latest.type === 'running'
      const error = runError(thrown, workflowId)
      if (error.code === 'SESSION_FULL')
        throw new PtcError(error.code, error.message, { hint: sessionFullHint(name), cause: thrown })
      if (!isGone && error.code !== 'SESSION_EXPIRED') throw error
      // The session ended before it accepted the update: nothing was executed. The next iteration reads the end of the
      // session.
      if (ended >= maxEndedSessions) throw endedBeforeAcceptance(name, thrown)
      if (!isGone && latest.type === 'running') await waitForSessionEnd(client, latest)
      else await sleep(endedPauseMs * 2 ** (ended - 1))
    }
  }
}

interface ExecuteUpdate {
  readonly args: [ExecuteInput]
  readonly updateId: string
  readonly waitForStage: typeof WorkflowUpdateStage.ACCEPTED
}

function updateSession(
  { workflow }: Client,
  { workflowId, runId }: WorkflowExecution,
  update: ExecuteUpdate,
): Promise<WorkflowUpdateHandle<ExecuteResult>> {
  const handle = workflow.getHandle(workflowId, runId)
  return handle.startUpdate<ExecuteResult, [ExecuteInput]>(sessionMessages.execute, update)
}

interface NewSession {
  readonly workflowId: string
  readonly taskQueue: string
  readonly input: SessionInput
}

function startSession(
  { workflow }: Client,
  { workflowId, taskQueue, input }: NewSession,
  update: ExecuteUpdate,
): Promise<WorkflowUpdateHandle<ExecuteResult>> {
  const summary = `session ${input.name}`
  return workflow.startUpdateWithStart<Workflow, ExecuteResult, [ExecuteInput]>(sessionMessages.execute, {
    ...update,
    startWorkflowOperation: new WithStartWorkflowOperation<Workflow>(workflowNames.session, {
      workflowId,
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: summary,
      memo: { [memoKeys.summary]: summary },
    }),
  })
}

type Report = (tree: RunTree) => void

/**
 * Performs the work, and watches it meanwhile if there is a function that gets the reports.
 *
 * @param watch must never reject, and must end when the signal is aborted
 */
async function watchWhile<Result>(
  report: Report | undefined,
  watch: (report: Report, signal: AbortSignal) => Promise<void>,
  work: () => Promise<Result>,
): Promise<Result> {
  if (report === undefined) return work()
  const finished = new AbortController()
  const watching = watch(report, finished.signal)
  try {
    return await work()
  } finally {
    finished.abort()
    await watching
  }
}

/** Does the checks of the session's workflow before a session is started. */
function checkSource(source: string): void {
  validateStart('program', source, {})
  const bytes = Buffer.byteLength(source)
  if (bytes <= maxExecuteSourceBytes) return
  throw new PtcError(
    'RUN_INPUT_INVALID',
    `the program has ${bytes} bytes; a session takes up to ${maxExecuteSourceBytes}`,
    {
      hint: 'Give large data through a tool.',
    },
  )
}

function endedBeforeAcceptance(name: string, cause: unknown): PtcError {
  const message = `session ${name} ended ${maxEndedSessions} times before it accepted the code; nothing was executed`
  return new PtcError('SESSION_CLOSED', message, { hint: 'Execute the code again.', cause })
}

function sessionFullHint(name: string): string {
  return `Save what you need outside, then \`ptc sessions close ${name}\`: the next execution starts a new session.`
}

/**
 * Waits for the result of an accepted update. The update is durable, so the function waits for an unavailable server.
 */
async function waitForResult(
  update: WorkflowUpdateHandle<ExecuteResult>,
  name: string,
  leaveSignal: AbortSignal | undefined,
): Promise<ExecuteResult> {
  // The abort of a signal cancels requests, which is not a reason to repeat them.
  const isRetryable = (thrown: unknown): boolean => !leaveSignal?.aborted && isRepeatableUpdate(thrown)
  try {
    return await retryLongPoll(() => update.result(), { isRetryable, aliveAfterMs: longPollMs })
  } catch (thrown) {
    if (!isSessionGone(thrown)) throw thrown
    const message = `session ${name} ended before the code had ended`
    throw new PtcError('SESSION_CLOSED', message, { cause: thrown })
  }
}

/** Returns true when the workflow was terminated, or when the server has deleted it. */
function isSessionGone(thrown: unknown): boolean {
  return thrown instanceof WorkflowNotFoundError || isUnanswered(thrown)
}
