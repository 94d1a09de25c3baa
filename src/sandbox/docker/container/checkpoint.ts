import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { defined } from '../../../common/defined.js'
import { PtcError } from '../../../common/errors.js'
import { waitForExit } from '../connection/container-exit.js'
import { withTimeout } from '../engine/with-timeout.js'
import type { CallOptions, DockerEngine } from '../engine/docker-engine.js'
import { statusOf } from '../engine/docker-error.js'

/** The checkpoint can't be restored; the session must be rebuilt from its journal. */
export class BrokenCheckpointError extends Error {
  override readonly name = 'BrokenCheckpointError'
}

/** A container has at most one checkpoint, with this id. */
const checkpointId = 'parked'

/** Hundreds of megabytes may have to be written or read for a checkpoint. */
const timeoutMs = 60_000

/** The daemon may still be stopping the container that is to be restored. */
const restoreAttempts = 25
const restoreRetryDelayMs = 200

const checkpointList = z.array(z.object({ Name: z.string() }))

/**
 * Returns whether the container has a checkpoint; false if the daemon does not support checkpoints.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function hasCheckpoint(engine: DockerEngine, container: string, signal?: AbortSignal): Promise<boolean> {
  const action = `look for a checkpoint of ${container}`
  try {
    const listed = await checkpointRequest(engine, { action, signal, method: 'GET', path: `${container}/checkpoints` })
    // Without checkpoints the response is null, not an empty list.
    return checkpointList.safeParse(listed).data?.some(({ Name }) => Name === checkpointId) ?? false
  } catch (error) {
    if (isDaemonRefusal(error)) return false
    throw error
  }
}

/**
 * Checkpoints a running container to disk and stops it. Does not report whether the daemon refused: the caller reads
 * the state of the container afterwards.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function createCheckpoint(engine: DockerEngine, container: string, signal?: AbortSignal): Promise<void> {
  const action = `checkpoint container ${container}`
  const body = { CheckpointID: checkpointId, Exit: true }
  try {
    await checkpointRequest(engine, { action, signal, method: 'POST', path: `${container}/checkpoints`, body })
  } catch (error) {
    if (isDaemonRefusal(error)) return
    throw error
  }
  // The daemon responds before it has recorded the exit. A daemon that is killed between the two never records it.
  await withTimeout(timeoutMs, signal, (waitSignal) => waitForExit(engine, container, waitSignal))
}

/**
 * Starts a container from its checkpoint and deletes the checkpoint. A running container has no checkpoint, so a
 * checkpoint is never older than the state of its container.
 *
 * @throws BrokenCheckpointError; PtcError SANDBOX_UNAVAILABLE
 */
export async function startFromCheckpoint(
  engine: DockerEngine,
  container: string,
  signal?: AbortSignal,
): Promise<void> {
  const action = `start container ${container} from its checkpoint`
  const start = { method: 'POST', path: `${container}/start`, query: { checkpoint: checkpointId }, body: {} } as const
  for (let attempt = 1; ; attempt += 1) {
    try {
      // 304: the container is already running.
      await checkpointRequest(engine, { action, signal, ignoredStatuses: [304], ...start })
      break
    } catch (error) {
      if (!isDaemonRefusal(error)) throw error
      const isStillStopping = /already (in use|exists)/.test(error.message)
      if (!isStillStopping || attempt >= restoreAttempts) throw new BrokenCheckpointError(error.message)
      await sleep(restoreRetryDelayMs, undefined, signal && { signal })
    }
  }
  await deleteCheckpoint(engine, container, signal)
}

/** Deletes the checkpoint of a container, if it has one. @throws PtcError SANDBOX_UNAVAILABLE */
export async function deleteCheckpoint(engine: DockerEngine, container: string, signal?: AbortSignal): Promise<void> {
  if (!(await hasCheckpoint(engine, container, signal))) return
  const action = `delete the checkpoint of ${container}`
  await checkpointRequest(engine, {
    action,
    signal,
    method: 'DELETE',
    path: `${container}/checkpoints/${checkpointId}`,
    ignoredStatuses: [404],
  })
}

interface CheckpointRequest extends Omit<CallOptions, 'timeoutMs'> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** The part of the URL after `/containers/`. */
  readonly path: string
  readonly query?: object
  readonly body?: object
}

/** dockerode's types lack its methods for checkpoints, and its `start` takes no checkpoint. */
function checkpointRequest(engine: DockerEngine, { method, path, query = {}, body, ...options }: CheckpointRequest) {
  return engine.call({ ...options, timeoutMs }, (_docker, abortSignal) =>
    engine.dial({
      path: `/containers/${path}?`,
      method,
      options: { _query: query, ...defined({ _body: body }) },
      allowEmpty: true,
      statusCodes: { 200: true, 201: true, 204: true },
      abortSignal,
    }),
  )
}

/** Returns true when the daemon responded with any error status. */
function isDaemonRefusal(error: unknown): error is PtcError {
  return PtcError.isInstance(error) && statusOf(error) !== undefined
}
