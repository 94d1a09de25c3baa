import type { Client } from '@temporalio/client'
import { type ErrorCode, PtcError } from '../../common/errors.js'
import { sessionMessages } from '../../common/names.js'
import type { SessionResult } from '../../common/session/session.js'
import { checkKeys } from '../start/check-input.js'
import { listRuns } from '../run/list-runs.js'
import { failWithoutWorker } from '../workers/worker-availability.js'
import { type RunFiles, runFiles } from '../files/run-files.js'
import { runError } from '../run/run-error.js'
import { runInfo } from '../run/run-info.js'
import { temporalError } from '../temporal/temporal-error.js'
import { requireRunningSession, waitForEndError } from './session-ending.js'
import {
  type ExecuteOptions,
  executeInSession,
  type ExecutionId,
  resultOfExecution,
  type ResultOptions,
  type SessionExecution,
} from './execute.js'
import { interruptSession } from './interrupt-session.js'
import { sessionName, sessionWorkflowId } from './session-name.js'
import type { WorkflowExecution } from '../temporal/history-pages.js'
import { inspectSession, type OwnerWorkflow, type SessionInfo, type SessionOwnerType } from './session-info.js'

/*
 * `src/client/sessions` owns named sessions: executing code by the update `execute`, listing, interrupting, closing.
 *
 * Boundary: the session's workflow by its messages (update, query, signals). It does not see the sandbox.
 *
 * Invariants:
 * 1. An execution has one update id; the session executes an update id once.
 * 2. An execution that was not accepted was not executed.
 * 3. An abort interrupts the code; the session keeps its variables.
 */

/**
 * Named sandboxes. Their variables outlive a run. Each task queue has its own names. Each method throws a PtcError with
 * a code of `docs/reference/errors.md`.
 */
export interface Sessions {
  /** Queues the code on the session. Starts the session if needed (`isNew: true`). */
  execute(name: string, source: string, options?: ExecuteOptions): Promise<SessionExecution>
  /**
   * Waits for the result of code that a session has taken, also after a restart of this process: `onAccepted` of
   * {@link execute} has told its id.
   */
  result(execution: ExecutionId, options?: ResultOptions): Promise<SessionExecution>
  /**
   * Interrupts the code that the session executes, as Ctrl-C does: its caller gets the outcome `stopped`, the session
   * keeps its variables. Does nothing when the session is idle. To stop only one execution, abort its `signal`.
   */
  interrupt(name: string): Promise<void>
  /**
   * Lists the sessions of this task queue, newest first, including the sandboxes of running runs. Visibility lags: a
   * session that has just started may be missing for a second.
   */
  list(options?: ListSessionsOptions): Promise<readonly SessionInfo[]>
  /** Describes a session by its name, or the sandbox of a running run by the run's id. */
  show(name: string): Promise<SessionInfo>
  /** Returns the files of a session, without a request. docs/guides/files.md */
  files(name: string): RunFiles
  /** Ends a session and the code that it executes. Resolves when its sandbox is removed. */
  close(name: string): Promise<SessionResult>
  /** Ends all named sessions of this task queue that visibility lists; returns their names. Runs continue. */
  closeAll(): Promise<readonly string[]>
}

interface ListSessionsOptions {
  /** Maximum number of running runs of each type with a sandbox in the list, newest first. Default 100. */
  readonly runs?: number
}

/** Sessions that are queried or closed concurrently. */
const batchSize = 20
const maxListed = 10_000

export function createSessions(client: Client, taskQueue: string): Sessions {
  const listRunning = async (type: SessionOwnerType, limit: number): Promise<readonly OwnerWorkflow[]> => {
    const found = limit === 0 ? [] : await listRuns(client, taskQueue, { limit, status: 'running', type })
    return found.map(({ workflowId, runId }) => ({ type, workflowId, runId }))
  }
  return {
    execute: (name, source, options = {}) => executeInSession(client, taskQueue, name, source, options),
    result: (execution, options = {}) => resultOfExecution(client, taskQueue, execution, options),
    interrupt: async (name) => interruptSession(client, await findNamedSession(client, taskQueue, name), {}),
    async list(options: ListSessionsOptions = {}) {
      checkKeys('the options', options, ['runs'] satisfies (keyof ListSessionsOptions)[])
      const { runs = 100 } = options
      const owners = await Promise.all([
        listRunning('session', maxListed),
        listRunning('agent', runs),
        listRunning('conversation', runs),
        listRunning('program', runs),
      ])
      const found = await mapInBatches(owners.flat(), (owner) => inspectSession(client, owner))
      return found.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
    },
    async show(name) {
      const owner = await findOwner(client, taskQueue, name)
      const info = await inspectSession(client, owner)
      if (info !== undefined) return info
      if (owner.type === 'session') throw await waitForEndError(client, owner)
      throw new PtcError('SESSION_NOT_FOUND', `run ${name} has no sandbox at the moment`)
    },
    files: (name) => runFiles(client, sessionWorkflowId(taskQueue, name)),
    close: async (name) => closeSession(client, await findNamedSession(client, taskQueue, name)),
    closeAll: async () =>
      mapInBatches(await listRunning('session', maxListed), async (found) => {
        try {
          await closeSession(client, found)
          return sessionName(found.workflowId)
        } catch (thrown) {
          // The session was closed by another client, or has expired.
          if (PtcError.isInstance(thrown) && endedCodes.includes(thrown.code)) return undefined
          throw thrown
        }
      }),
  }
}

const endedCodes: readonly ErrorCode[] = ['SESSION_CLOSED', 'SESSION_EXPIRED']

async function closeSession(client: Client, session: WorkflowExecution): Promise<SessionResult> {
  const { workflowId, runId } = session
  const handle = client.workflow.getHandle(workflowId, runId)
  try {
    await handle.signal(sessionMessages.close)
    const awaitedWork = { failedAction: `session ${sessionName(workflowId)} is to close`, isQuery: false }
    // The workflow type guarantees this result type.
    return (await failWithoutWorker(client, session, awaitedWork, () => handle.result())) as SessionResult
  } catch (thrown) {
    const error = runError(thrown, workflowId)
    throw error.code === 'TEMPORAL_NOT_FOUND' ? await waitForEndError(client, session) : error
  }
}

/** Returns the results of the work for each item, without the undefined ones. */
async function mapInBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result | undefined>,
): Promise<readonly Result[]> {
  const results: (Result | undefined)[] = []
  for (let start = 0; start < items.length; start += batchSize) {
    results.push(...(await Promise.all(items.slice(start, start + batchSize).map(work))))
  }
  return results.filter((result) => result !== undefined)
}

/**
 * Returns the running session of this name on the task queue. If there never was one, returns the running run of this
 * id, which owns a sandbox.
 *
 * @throws errors of {@link requireRunningSession}
 */
async function findOwner(client: Client, taskQueue: string, name: string): Promise<OwnerWorkflow> {
  try {
    const { workflowId, runId } = await requireRunningSession(client, sessionWorkflowId(taskQueue, name))
    return { type: 'session', workflowId, runId }
  } catch (thrown) {
    const isUnknown = PtcError.isInstance(thrown) && thrown.code === 'SESSION_NOT_FOUND'
    const run = isUnknown ? await findRunningRun(client, name) : undefined
    if (run !== undefined) return run
    throw thrown
  }
}

/**
 * Returns the running session of this name. @throws PtcError SESSION_OWNED when it is the sandbox of a run; errors of
 * {@link findOwner}
 */
async function findNamedSession(client: Client, taskQueue: string, name: string): Promise<OwnerWorkflow> {
  const owner = await findOwner(client, taskQueue, name)
  if (owner.type === 'session') return owner
  throw new PtcError('SESSION_OWNED', `${name} is the sandbox of a run (${owner.type}), and ends with it`, {
    hint: `\`ptc cancel ${name}\` stops the run.`,
  })
}

async function findRunningRun({ workflow }: Client, id: string): Promise<OwnerWorkflow | undefined> {
  try {
    const { workflowId, runId, type, status } = runInfo(await workflow.getHandle(id).describe())
    if (status !== 'running' || (type !== 'agent' && type !== 'conversation' && type !== 'program')) return undefined
    return { type, workflowId, runId }
  } catch (thrown) {
    const error = temporalError(thrown, `look up run ${id}`, id)
    if (error.code === 'TEMPORAL_NOT_FOUND') return undefined
    throw error
  }
}
