import { type Client, QueryNotRegisteredError, WorkflowNotFoundError } from '@temporalio/client'
import { sessionMessages } from '../../common/names.js'
import type { SessionStatus } from '../../common/sessions.js'
import { temporalError } from '../temporal-error.js'
import { type Located, sessionName } from './name.js'

/** A session that is there. */
export interface SessionInfo extends Omit<SessionStatus, 'createdAt' | 'lastUsedAt' | 'expiresAt'> {
  /** Of a run's sandbox: the id of the run. */
  readonly name: string
  /** `session`: it has a name, and outlives runs. Else the kind of run that it belongs to, and ends with. */
  readonly owner: SessionOwnerType
  readonly workflowId: string
  readonly runId: string
  readonly createdAt: Date
  /** End of the latest execution. */
  readonly lastUsedAt: Date
  /** Undefined while something is executed, and for the sandbox of a run. */
  readonly expiresAt: Date | undefined
}

export type SessionOwnerType = 'session' | 'agent' | 'program'

export interface LocatedOwner extends Located {
  readonly type: SessionOwnerType
}

/**
 * What a session says of itself; undefined when it is over, or when a run has no sandbox.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE when no worker answers
 */
export async function inspectSession(
  { workflow }: Client,
  { workflowId, runId, type }: LocatedOwner,
): Promise<SessionInfo | undefined> {
  const name = type === 'session' ? sessionName(workflowId) : workflowId
  try {
    const found = await workflow.getHandle(workflowId, runId).query<SessionStatus | null>(sessionMessages.inspect)
    if (found === null || found.state === 'ending') return undefined
    const { createdAt, lastUsedAt, expiresAt, ...status } = found
    return {
      name,
      owner: type,
      workflowId,
      runId,
      ...status,
      createdAt: new Date(createdAt),
      lastUsedAt: new Date(lastUsedAt),
      expiresAt: expiresAt === null ? undefined : new Date(expiresAt),
    }
  } catch (thrown) {
    // Over; or a run that has only just begun, or whose worker is older than the question.
    if (thrown instanceof WorkflowNotFoundError || thrown instanceof QueryNotRegisteredError) return undefined
    throw temporalError(thrown, `ask session ${name}`, workflowId)
  }
}
