import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { runInfo } from '../run/run-info.js'
import { temporalError } from '../temporal/temporal-error.js'
import { requireRunningSession } from './session-ending.js'
import { sessionWorkflowId } from './session-name.js'
import type { OwnerWorkflow } from './session-info.js'

/**
 * Returns the running session of this name on the task queue. If there never was one, returns the running run of this
 * id, which owns a sandbox.
 *
 * @throws PtcError with a code of `docs/reference/errors.md`
 */
export async function findOwner(client: Client, taskQueue: string, name: string): Promise<OwnerWorkflow> {
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
export async function findNamedSession(client: Client, taskQueue: string, name: string): Promise<OwnerWorkflow> {
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
