import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { runInfo } from '../run-info.js'
import { temporalError } from '../temporal-error.js'
import { runningSession } from './ending.js'
import { sessionWorkflowId } from './name.js'
import type { LocatedOwner } from './session-info.js'

/**
 * The session of this name on this task queue; when there never was one, the run of this id, which owns a sandbox too.
 *
 * @throws PtcError RUN_INPUT_INVALID, SESSION_NOT_FOUND, SESSION_EXPIRED, SESSION_CLOSED, TEMPORAL_UNREACHABLE
 */
export async function findOwner(client: Client, taskQueue: string, name: string): Promise<LocatedOwner> {
  try {
    const { workflowId, runId } = await runningSession(client, sessionWorkflowId(taskQueue, name))
    return { type: 'session', workflowId, runId }
  } catch (thrown) {
    const isUnknown = PtcError.isInstance(thrown) && thrown.code === 'SESSION_NOT_FOUND'
    const run = isUnknown ? await runningRun(client, name) : undefined
    if (run !== undefined) return run
    throw thrown
  }
}

/** @throws PtcError SESSION_OWNED when it is the sandbox of a run; and what {@link findOwner} throws */
export async function findNamed(client: Client, taskQueue: string, name: string): Promise<LocatedOwner> {
  const owner = await findOwner(client, taskQueue, name)
  if (owner.type === 'session') return owner
  throw new PtcError('SESSION_OWNED', `${name} is the sandbox of a run (${owner.type}), and ends with it`, {
    hint: `\`ptc cancel ${name}\` stops the run.`,
  })
}

async function runningRun({ workflow }: Client, id: string): Promise<LocatedOwner | undefined> {
  try {
    const { workflowId, runId, type, status } = runInfo(await workflow.getHandle(id).describe())
    if (status !== 'running' || (type !== 'agent' && type !== 'program')) return undefined
    return { type, workflowId, runId }
  } catch (thrown) {
    const error = temporalError(thrown, `look up run ${id}`, id)
    if (error.code === 'TEMPORAL_NOT_FOUND') return undefined
    throw error
  }
}
