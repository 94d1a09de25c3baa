import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { waitForExit } from './attach.js'
import { withDeadline } from './deadline.js'
import type { CallOptions, DockerEngine } from './engine.js'
import { statusOf } from './errors.js'

/** What was parked can't be had back: nothing but its journal makes the session again. */
export class BrokenCheckpointError extends Error {
  override readonly name = 'BrokenCheckpointError'
}

/** A container has one at most. */
const checkpointId = 'parked'

/** Hundreds of megabytes go to a disk, or come from it. */
const deadlineMs = 60_000

/** The daemon may still be busy with the end of the container that is to run again. */
const restoreAttempts = 25
const pauseMs = 200

const checkpoints = z.array(z.object({ Name: z.string() }))

/** Is the container on disk? A daemon that knows no checkpoints has none. @throws PtcError SANDBOX_UNAVAILABLE */
export async function hasCheckpoint(engine: DockerEngine, container: string, signal?: AbortSignal): Promise<boolean> {
  const doing = `look for a checkpoint of ${container}`
  try {
    const listed = await request(engine, { doing, signal, method: 'GET', path: `${container}/checkpoints` })
    // No list at all when there are none.
    return checkpoints.safeParse(listed).data?.some(({ Name }) => Name === checkpointId) ?? false
  } catch (error) {
    if (isRefused(error)) return false
    throw error
  }
}

/**
 * Writes a running container to disk and ends it, or fails at it: what came of it, the container tells.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function checkpoint(engine: DockerEngine, container: string, signal?: AbortSignal): Promise<void> {
  const doing = `write container ${container} to disk`
  const body = { CheckpointID: checkpointId, Exit: true }
  try {
    await request(engine, { doing, signal, method: 'POST', path: `${container}/checkpoints`, body })
  } catch (error) {
    if (isRefused(error)) return
    throw error
  }
  // The daemon answers before it has seen the end of the container; were it killed now, it would never know.
  await withDeadline(deadlineMs, signal, (within) => waitForExit(engine, container, within))
}

/**
 * Starts a container from its checkpoint, which is used up by that: what runs has none, so none is ever older than what was done.
 *
 * @throws BrokenCheckpointError; PtcError SANDBOX_UNAVAILABLE
 */
export async function restore(engine: DockerEngine, container: string, signal?: AbortSignal): Promise<void> {
  const doing = `start container ${container} from disk`
  const start = { method: 'POST', path: `${container}/start`, query: { checkpoint: checkpointId }, body: {} } as const
  for (let attempt = 1; ; attempt += 1) {
    try {
      // 304: somebody else was faster.
      await request(engine, { doing, signal, fine: [304], ...start })
      break
    } catch (error) {
      if (!isRefused(error)) throw error
      const isTooSoon = /already (in use|exists)/.test(error.message)
      if (!isTooSoon || attempt >= restoreAttempts) throw new BrokenCheckpointError(error.message)
      await sleep(pauseMs, undefined, signal && { signal })
    }
  }
  await dropCheckpoint(engine, container, signal)
}

/** Removes the checkpoint of a container; none is fine. @throws PtcError SANDBOX_UNAVAILABLE */
export async function dropCheckpoint(engine: DockerEngine, container: string, signal?: AbortSignal): Promise<void> {
  if (!(await hasCheckpoint(engine, container, signal))) return
  const doing = `remove the checkpoint of ${container}`
  await request(engine, {
    doing,
    signal,
    method: 'DELETE',
    path: `${container}/checkpoints/${checkpointId}`,
    fine: [404],
  })
}

interface CheckpointRequest extends Omit<CallOptions, 'deadlineMs'> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** After `/containers/`. */
  readonly path: string
  readonly query?: object
  readonly body?: object
}

/** dockerode's methods for checkpoints are not in its types, and its `start` can't be given one. */
function request(engine: DockerEngine, { method, path, query = {}, body, ...options }: CheckpointRequest) {
  return engine.call({ ...options, deadlineMs }, (_docker, abortSignal) =>
    engine.dial({
      path: `/containers/${path}?`,
      method,
      options: { _query: query, ...(body === undefined ? {} : { _body: body }) },
      allowEmpty: true,
      statusCodes: { 200: true, 201: true, 204: true },
      abortSignal,
    }),
  )
}

/** The daemon said no; whether it can't or does not want to makes no difference. */
function isRefused(error: unknown): error is PtcError {
  return PtcError.isInstance(error) && statusOf(error.cause) !== undefined
}
