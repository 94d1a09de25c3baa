import { type Client, WorkflowFailedError } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import type { SessionResult } from '../../common/session/session.js'
import { type RunInfo, runInfo } from '../run/run-info.js'
import { temporalError } from '../temporal/temporal-error.js'
import { sessionName } from './session-name.js'
import type { WorkflowExecution } from '../temporal/history-pages.js'

/** The end of a session: `idle`, `closed`, or the status of its workflow. */
export type SessionEnding = SessionResult['ended'] | Exclude<RunInfo['status'], 'running' | 'completed'>

type LatestSessionStatus =
  | { readonly type: 'none' }
  | RunningSession
  | { readonly type: 'over'; readonly ending: SessionEnding }

interface RunningSession {
  readonly type: 'running'
  readonly workflowId: string
  readonly runId: string
}

/** Describes the latest session of a workflow id. @throws PtcError TEMPORAL_UNREACHABLE */
export async function describeLatestSession({ workflow }: Client, workflowId: string): Promise<LatestSessionStatus> {
  try {
    const { runId, status } = runInfo(await workflow.getHandle(workflowId).describe())
    if (status === 'running') return { type: 'running', workflowId, runId }
    if (status !== 'completed') return { type: 'over', ending: status }
    // The workflow type guarantees this result type.
    const { ended } = (await workflow.getHandle(workflowId, runId).result()) as SessionResult
    return { type: 'over', ending: ended }
  } catch (thrown) {
    const error = temporalError(thrown, `look up session ${sessionName(workflowId)}`, workflowId)
    if (error.code === 'TEMPORAL_NOT_FOUND') return { type: 'none' }
    throw error
  }
}

/** @throws PtcError SESSION_NOT_FOUND, SESSION_EXPIRED, SESSION_CLOSED; and errors of {@link describeLatestSession} */
export async function requireRunningSession(client: Client, workflowId: string): Promise<RunningSession> {
  const latest = await describeLatestSession(client, workflowId)
  if (latest.type === 'running') return latest
  throw sessionEndedError(sessionName(workflowId), latest.type === 'none' ? undefined : latest.ending)
}

/** Waits until an ending session has ended, and returns the error for its callers. */
export async function waitForEndError(client: Client, session: WorkflowExecution): Promise<PtcError> {
  await waitForSessionEnd(client, session)
  const latest = await describeLatestSession(client, session.workflowId)
  return sessionEndedError(sessionName(session.workflowId), latest.type === 'over' ? latest.ending : 'unknown')
}

/** @param ending undefined when the session never existed */
export function sessionEndedError(name: string, ending: SessionEnding | undefined): PtcError {
  const hint = '`ptc sessions list` shows those there are.'
  if (ending === undefined) return new PtcError('SESSION_NOT_FOUND', `there is no session ${name}`, { hint })
  return ending === 'idle'
    ? new PtcError('SESSION_EXPIRED', `session ${name} has expired; its variables are gone`, { hint })
    : new PtcError('SESSION_CLOSED', `session ${name} was ${endingDescriptions[ending]}; its variables are gone`, {
        hint,
      })
}

const endingDescriptions: Readonly<Record<Exclude<SessionEnding, 'idle'>, string>> = {
  closed: 'closed',
  failed: 'ended by a failure',
  cancelled: 'cancelled',
  terminated: 'terminated',
  timed_out: 'ended by a timeout',
  paused: 'paused',
  continued: 'continued elsewhere',
  unknown: 'ended',
}

/** Waits until an ending session has ended in any way; does not wait for a newer session of the same name. */
export async function waitForSessionEnd({ workflow }: Client, { workflowId, runId }: WorkflowExecution): Promise<void> {
  try {
    await workflow.getHandle(workflowId, runId).result()
  } catch (thrown) {
    if (!(thrown instanceof WorkflowFailedError)) {
      throw temporalError(thrown, `wait for the end of session ${sessionName(workflowId)}`, workflowId)
    }
  }
}
