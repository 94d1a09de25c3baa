import type { Client } from '@temporalio/client'
import { sessionMessages } from '../../common/names.js'
import type { SessionStatus } from '../../common/sessions.js'
import { whileServed } from '../missing-worker.js'
import { queryRun } from '../query-run.js'
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
 * @throws PtcError WORKER_MISSING, TEMPORAL_UNREACHABLE
 */
export async function inspectSession(
  client: Client,
  { workflowId, runId, type }: LocatedOwner,
): Promise<SessionInfo | undefined> {
  const name = type === 'session' ? sessionName(workflowId) : workflowId
  try {
    // Undefined: it is over; or a run has only just begun, or its worker is older than the question.
    const asked = { what: `can't ask session ${name}`, isQuery: true }
    const found = await whileServed(client, { workflowId, runId }, asked, () =>
      queryRun<SessionStatus | null>(client, { workflowId, runId }, sessionMessages.inspect),
    )
    if (found === undefined || found === null || found.state === 'ending') return undefined
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
    throw temporalError(thrown, `ask session ${name}`, workflowId)
  }
}
