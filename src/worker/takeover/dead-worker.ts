import { setTimeout as delay } from 'node:timers/promises'
import { msToTs } from '@temporalio/common/lib/time.js'
import { type NativeConnection, Runtime } from '@temporalio/worker'
import { metrics } from '../../common/telemetry/metrics.js'
import { formatDuration } from '../../common/text/duration.js'
import type { Attempt, Execution } from './attempt-record.js'
import { atOnceMs, type LostAttempt, retryDelayMs, workerLost } from './retry-delay.js'

/** PENDING_ACTIVITY_STATE_STARTED */
const started = 2

/** Maximum number of requests in parallel. */
const concurrency = 10

/**
 * Milliseconds after which to ask the server. It may still give tasks to the connection of the dead worker for a
 * moment.
 */
const askedAfterMs = [0, 500, 2_000] as const

interface LostActivity {
  readonly activityId: string
  readonly type: string
  readonly attempt: number | null | undefined
  /** Milliseconds until its next attempt. */
  readonly delayMs: number
}

interface DeadWorkerOptions {
  readonly connection: NativeConnection
  readonly namespace: string
  /** Identity of the dead worker. */
  readonly identity: string
  /**
   * Whether the dead worker had the identity of this process, for example in a restarted container, which uses process
   * ids again.
   */
  readonly isOwnIdentity: boolean
}

/**
 * Fails the attempts of activities that the server has as started by a worker that has ended, including those that the
 * worker never received. An attempt that can't be failed ends with its timeout.
 */
export class DeadWorker {
  readonly #service: NativeConnection['workflowService']
  readonly #options: DeadWorkerOptions

  constructor(options: DeadWorkerOptions) {
    this.#service = options.connection.workflowService
    this.#options = options
  }

  /** Settles when all requests have ended. Never rejects. */
  async fail(attempts: readonly LostAttempt[], executions: readonly Execution[]): Promise<void> {
    const begun = new Map(attempts.map((attempt) => [keyOf(attempt), attempt]))
    let waitedMs = 0
    for (const afterMs of this.#options.isOwnIdentity ? [0] : askedAfterMs) {
      if (executions.length === 0) return
      await delay(afterMs - waitedMs, undefined, { ref: false })
      waitedMs = afterMs
      const waiting = [...executions]
      const askNext = async (): Promise<void> => {
        for (let execution = waiting.pop(); execution !== undefined; execution = waiting.pop())
          await this.#failStarted(execution, begun).catch(() => undefined)
      }
      await Promise.all(Array.from({ length: concurrency }, askNext))
    }
  }

  async #failStarted(execution: Execution, begun: ReadonlyMap<string, LostAttempt>): Promise<void> {
    const { namespace, identity, isOwnIdentity } = this.#options
    const { pendingActivities } = await this.#service.describeWorkflowExecution({ namespace, execution })
    for (const activity of pendingActivities ?? []) {
      const { activityId, activityType, attempt, state, lastWorkerIdentity, lastFailure } = activity
      if (Number(state) !== started || lastWorkerIdentity !== identity || activityId == null) continue
      const lost = begun.get(keyOf({ ...execution, activityId, attempt: attempt ?? 1 }))
      // Other attempts with this identity may be those of this process.
      if (isOwnIdentity && !lost) continue
      // A task that the dead worker never received can't be the cause of its end.
      const delayMs = lost ? retryDelayMs(lost, lastFailure) : atOnceMs
      await this.#failAttempt(execution, { activityId, type: activityType?.name ?? '', attempt, delayMs })
    }
  }

  async #failAttempt({ workflowId, runId }: Execution, activity: LostActivity): Promise<void> {
    const { namespace, identity } = this.#options
    const { activityId, type, attempt, delayMs } = activity
    await this.#service.respondActivityTaskFailedById({
      namespace,
      workflowId,
      runId,
      activityId,
      identity,
      failure: {
        message: 'the worker of this attempt was lost',
        source: 'durable-ptc',
        applicationFailureInfo: { type: workerLost, nextRetryDelay: msToTs(delayMs) },
      },
    })
    metrics.add('ptc_takeover_attempts_total', 1, {})
    if (delayMs === atOnceMs) return
    const waits = formatDuration(delayMs)
    Runtime.instance().logger.warn(
      `activity ${type} was in progress when worker ${identity} died, as when a worker died before: tried again in ${waits}`,
      { activityType: type, workflowId, runId, activityId, attempt },
    )
  }
}

function keyOf({ runId, activityId, attempt }: Attempt): string {
  return JSON.stringify([runId, activityId, attempt])
}
