/*
 * Takeover: fails the activity attempts of a dead worker at once, so that they are tried again now and not after their
 * timeouts. A workflow task of a dead worker ends with its timeout of ten seconds.
 *
 * Owns: a record of this process's attempts on disk, and a connection to every other worker of the same user, machine,
 * namespace, task queue and host identity. Boundary: one interceptor for activities, and requests to the server. It
 * knows no activity.
 *
 * Invariants: 1. An attempt is failed only if the server has it as started by the dead worker. 2. Only one worker takes
 * over the record of another: it renames the file first. 3. Without the folder, the socket or the server, timeouts
 * decide, as between hosts. 4. A worker that ends gracefully leaves no file.
 */
import { createHash } from 'node:crypto'
import { lstatSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import type { ActivityInterceptors, NativeConnection } from '@temporalio/worker'
import { type Attempt, AttemptRecord, readRecords, type Records } from './attempt-record.js'
import { DeadWorker } from './dead-worker.js'
import { maxSocketPathBytes, Peers } from './peers.js'
import { type LostAttempt, lostAttempts, retryDelayMs, workerLost } from './retry-delay.js'

interface TakeoverOptions {
  readonly connection: NativeConnection
  readonly namespace: string
  /** Workers of one namespace, task queue and host identity share a folder. `owner`: name and id of the namespace. */
  readonly group: { readonly owner: string; readonly taskQueue: string; readonly hostId: string }
}

export interface Takeover {
  /** Records the attempts of activities. */
  readonly interceptors: (context: Context) => ActivityInterceptors
  /** Idempotent. */
  close(): Promise<void>
}

/** The identity that the SDK gives to the workers of a process. */
function workerIdentity(processId: string): string {
  return `${processId}@${hostname()}`
}

/** @returns undefined where a takeover is impossible: on Windows, or when the folder can't be used */
export async function startTakeover({ connection, namespace, group }: TakeoverOptions): Promise<Takeover | undefined> {
  const folder = folderOf(group)
  if (folder === undefined) return undefined
  try {
    const peers = await Peers.start({ folder, onEnd: (name) => void takeOver(name) })
    const path = join(folder, `${peers.name}.attempts`)
    const record = new AttemptRecord(path)
    const delayed = new Map<string, DelayedAttempt>()
    const takeOver = async (name: string): Promise<void> => {
      const { attempts, executions } = claim(join(folder, `${name}.attempts`), `${path}.taken`)
      const lost = lostAttempts(attempts)
      const now = performance.now()
      for (const [key, { until }] of delayed) if (until + rememberedMs < now) delayed.delete(key)
      for (const each of lost) delayed.set(keyOf(each), { ...each, until: now + retryDelayMs(each) })
      const [processId = ''] = name.split('-')
      const isOwnIdentity = processId === String(process.pid)
      const identity = workerIdentity(processId)
      await new DeadWorker({ connection, namespace, identity, isOwnIdentity }).fail(lost, executions)
    }
    return {
      interceptors: ({ info }) => ({
        inbound: {
          async execute(input, next) {
            const { workflowExecution, activityId, attempt } = info
            if (workflowExecution === undefined) return next(input)
            const lost = takeDelayed(delayed, { ...workflowExecution, activityId, attempt })
            const end = record.begin({ ...workflowExecution, activityId, attempt, ...(lost > 0 && { lost }) })
            try {
              return await next(input)
            } finally {
              end()
            }
          },
        },
      }),
      async close() {
        record.close()
        rmSync(path, { force: true })
        await peers.close()
        removeIfEmpty(folder)
      },
    }
  } catch {
    return undefined
  }
}

/** Milliseconds after its delay for which an attempt is remembered, because it may wait for a slot. */
const rememberedMs = 600_000

interface DelayedAttempt extends LostAttempt {
  /** Time of the clock `performance.now()`. */
  readonly until: number
}

/**
 * Delays an attempt that comes too early. The server may time out an attempt before another worker notices the loss of
 * its worker, and then gives the next attempt to this worker at once.
 *
 * @returns the number of consecutive earlier attempts that lost their workers
 * @throws ApplicationFailure when this attempt comes too early
 */
function takeDelayed(delayed: Map<string, DelayedAttempt>, attempt: Attempt): number {
  const key = keyOf(attempt)
  const found = delayed.get(key)
  if (!found || attempt.attempt <= found.attempt) return 0
  const waitMs = found.until - performance.now()
  // The delay of the server starts a moment later, or uses another clock.
  if (waitMs > 500) {
    const message = `the workers of ${found.lost} attempts were lost: the next one waits`
    throw ApplicationFailure.create({ message, type: workerLost, nextRetryDelay: Math.ceil(waitMs) })
  }
  delayed.delete(key)
  return found.lost
}

function keyOf({ runId, activityId }: Attempt): string {
  return JSON.stringify([runId, activityId])
}

/** A folder that only this user can write to, because a record causes attempts to fail. */
function folderOf({ owner, taskQueue, hostId }: TakeoverOptions['group']): string | undefined {
  const userId = process.geteuid?.()
  if (userId === undefined) return undefined
  const key = createHash('sha256')
    .update(JSON.stringify([owner, taskQueue, hostId]))
    .digest('hex')
  const folder = join(tmpdir(), `durable-ptc-${userId}-${key.slice(0, 12)}`)
  if (Buffer.byteLength(folder) + 30 > maxSocketPathBytes) return undefined
  const found = lstatSync(folder, { throwIfNoEntry: false })
  const isOurs = found === undefined || (found.isDirectory() && found.uid === userId && (found.mode & 0o022) === 0)
  return isOurs ? folder : undefined
}

/** The content of a record; empty when its worker ended gracefully, or when another worker has taken over. */
function claim(path: string, taken: string): Records {
  try {
    renameSync(path, taken)
    return readRecords(taken)
  } catch {
    return { attempts: [], executions: [] }
  } finally {
    rmSync(taken, { force: true })
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Other workers use the folder.
  }
}
