import { type Client, WorkflowFailedError } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import type { SessionResult } from '../../common/sessions.js'
import { type RunInfo, runInfo } from '../run-info.js'
import { temporalError } from '../temporal-error.js'
import { type Located, sessionName } from './name.js'

/** How a session came to its end: `idle`, `closed`, or what else befell its workflow. */
export type SessionEnding = SessionResult['ended'] | Exclude<RunInfo['status'], 'running' | 'completed'>

export type LatestSession =
  | { readonly type: 'none' }
  | RunningSession
  | { readonly type: 'over'; readonly ending: SessionEnding }

interface RunningSession {
  readonly type: 'running'
  readonly workflowId: string
  readonly runId: string
}

/** The latest session of a workflow id. @throws PtcError TEMPORAL_UNREACHABLE */
export async function latestSession({ workflow }: Client, workflowId: string): Promise<LatestSession> {
  try {
    const { runId, status } = runInfo(await workflow.getHandle(workflowId).describe())
    if (status === 'running') return { type: 'running', workflowId, runId }
    if (status !== 'completed') return { type: 'over', ending: status }
    // Both ends are ours: a workflow of this id returns this type.
    const { ended } = (await workflow.getHandle(workflowId, runId).result()) as SessionResult
    return { type: 'over', ending: ended }
  } catch (thrown) {
    const error = temporalError(thrown, `look up session ${sessionName(workflowId)}`, workflowId)
    if (error.code === 'TEMPORAL_NOT_FOUND') return { type: 'none' }
    throw error
  }
}

/** @throws PtcError SESSION_NOT_FOUND, SESSION_EXPIRED, SESSION_CLOSED; and what {@link latestSession} throws */
export async function runningSession(client: Client, workflowId: string): Promise<RunningSession> {
  const latest = await latestSession(client, workflowId)
  if (latest.type === 'running') return latest
  throw sessionOver(sessionName(workflowId), latest.type === 'none' ? undefined : latest.ending)
}

/** How a session that is about to end, or has just ended, came to that. */
export async function overSoon(client: Client, session: Located): Promise<PtcError> {
  await sessionEnd(client, session)
  const latest = await latestSession(client, session.workflowId)
  return sessionOver(sessionName(session.workflowId), latest.type === 'over' ? latest.ending : 'unknown')
}

/** @param ending undefined when there never was such a session */
export function sessionOver(name: string, ending: SessionEnding | undefined): PtcError {
  const hint = '`ptc sessions list` shows those there are.'
  if (ending === undefined) return new PtcError('SESSION_NOT_FOUND', `there is no session ${name}`, { hint })
  return ending === 'idle'
    ? new PtcError('SESSION_EXPIRED', `session ${name} has expired; its variables are gone`, { hint })
    : new PtcError('SESSION_CLOSED', `session ${name} was ${endingInWords[ending]}; its variables are gone`, { hint })
}

const endingInWords: Readonly<Record<Exclude<SessionEnding, 'idle'>, string>> = {
  closed: 'closed',
  failed: 'ended by a failure',
  cancelled: 'cancelled',
  terminated: 'terminated',
  timed_out: 'ended by a timeout',
  paused: 'paused',
  continued: 'continued elsewhere',
  unknown: 'ended',
}

/** Waits until a session that is about to end has ended, however it does; not for one of the same name that began since. */
export async function sessionEnd({ workflow }: Client, { workflowId, runId }: Located): Promise<void> {
  try {
    await workflow.getHandle(workflowId, runId).result()
  } catch (thrown) {
    if (!(thrown instanceof WorkflowFailedError)) {
      throw temporalError(thrown, `wait for the end of session ${sessionName(workflowId)}`, workflowId)
    }
  }
}
