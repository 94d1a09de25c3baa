import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { sessionMessages } from '../../common/names.js'
import type { SessionStatus } from '../../common/sessions.js'
import { temporalError } from '../temporal-error.js'
import { sessionName } from './name.js'

/** A session that is there. */
export interface SessionInfo extends Omit<SessionStatus, 'createdAt' | 'lastUsedAt' | 'expiresAt'> {
  readonly name: string
  readonly workflowId: string
  readonly runId: string
  readonly createdAt: Date
  /** End of the latest execution. */
  readonly lastUsedAt: Date
  /** Undefined while something is executed. */
  readonly expiresAt: Date | undefined
}

export interface Located {
  readonly workflowId: string
  readonly runId: string
}

/** What a session says of itself; undefined when it is over. @throws PtcError TEMPORAL_UNREACHABLE when no worker answers */
export async function inspectSession(
  { workflow }: Client,
  { workflowId, runId }: Located,
): Promise<SessionInfo | undefined> {
  const name = sessionName(workflowId)
  try {
    const handle = workflow.getHandle(workflowId, runId)
    const { createdAt, lastUsedAt, expiresAt, ...status } = await handle.query<SessionStatus>(sessionMessages.inspect)
    if (status.state === 'ending') return undefined
    return {
      name,
      workflowId,
      runId,
      ...status,
      createdAt: new Date(createdAt),
      lastUsedAt: new Date(lastUsedAt),
      expiresAt: expiresAt === null ? undefined : new Date(expiresAt),
    }
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError) return undefined
    throw temporalError(thrown, `ask session ${name}`, workflowId)
  }
}
