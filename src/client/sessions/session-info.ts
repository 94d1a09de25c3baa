import type { Client } from '@temporalio/client'
import { sessionMessages } from '../../common/names.js'
import type { SessionStatus } from '../../common/session/session.js'
import { failWithoutWorker } from '../workers/worker-availability.js'
import { queryRun } from '../temporal/query-run.js'
import { temporalError } from '../temporal/temporal-error.js'
import { sessionName } from './session-name.js'
import type { WorkflowExecution } from '../temporal/history-pages.js'

/** An open session. */
export interface SessionInfo extends Omit<SessionStatus, 'createdAt' | 'lastUsedAt' | 'expiresAt'> {
  /** The name of the session. For the sandbox of a run: the id of the run. */
  readonly name: string
  /** `session`: a named session, which outlives runs. Otherwise the type of the run that owns the sandbox. */
  readonly owner: SessionOwnerType
  readonly workflowId: string
  readonly runId: string
  readonly createdAt: Date
  /** End of the latest execution. */
  readonly lastUsedAt: Date
  /** Time at which the session expires; undefined while code is executed, and for the sandbox of a run. */
  readonly expiresAt: Date | undefined
}

export type SessionOwnerType = 'session' | 'agent' | 'conversation' | 'program'

export interface OwnerWorkflow extends WorkflowExecution {
  readonly type: SessionOwnerType
}

/**
 * Queries a session. Returns undefined when it has ended, or when the run has no sandbox.
 *
 * @throws PtcError WORKER_MISSING, TEMPORAL_UNREACHABLE
 */
export async function inspectSession(
  client: Client,
  { workflowId, runId, type }: OwnerWorkflow,
): Promise<SessionInfo | undefined> {
  const name = type === 'session' ? sessionName(workflowId) : workflowId
  try {
    // Undefined: the session has ended, or the run has not registered the query yet.
    const awaitedWork = { failedAction: `can't ask session ${name}`, isQuery: true }
    const reported = await failWithoutWorker(client, { workflowId, runId }, awaitedWork, () =>
      queryRun<SessionStatus | null>(client, { workflowId, runId }, sessionMessages.inspect),
    )
    if (reported === undefined || reported === null || reported.state === 'ending') return undefined
    const { createdAt, lastUsedAt, expiresAt, ...status } = reported
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
    throw temporalError(thrown, `ask session ${name}`, workflowId)
  }
}
