// The watchdog thread of a worker process. It works while the event loop of the main thread is blocked.
import { appendFileSync, readFileSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { Connection, defaultPayloadConverter, isGrpcServiceError } from '@temporalio/client'
import type { Payload } from '@temporalio/common'
import type { ErrorCode } from '../../common/errors.js'
import { encryptPayload } from '../../values/encryption/payload-codec.js'
import { makeMessagesWellFormed } from '../../values/well-formed-messages.js'
import {
  tickMs,
  monotonicMs,
  SharedState,
  type WatchdogThreadData,
  type WatchedActivity,
  type ToWatchdog,
} from './protocol.js'
import { type WatchdogActions, StallDetector } from './stall-detector.js'

/** gRPC's NOT_FOUND. */
const notFound = 5
const requestTimeoutMs = 5_000
const blockedErrorCode: ErrorCode = 'TOOL_BLOCKED'

const { port, memory, namespace, identity, encryptionKey, hasUserCodec, log, logFormat, connectionOptions } =
  workerData as WatchdogThreadData

makeMessagesWellFormed()

// Connects at once: on a busy machine connecting takes seconds, which is too long when a heartbeat is due.
const connection = Connection.lazy(connectionOptions)
connection.ensureConnected().catch(() => undefined)

const actions: WatchdogActions = {
  async heartbeat(activity, value) {
    const { taskToken } = activity
    const details = { payloads: payloadsOf(activity, value) }
    try {
      const { cancelRequested } = await connection.withDeadline(Date.now() + requestTimeoutMs, () =>
        connection.workflowService.recordActivityTaskHeartbeat({ namespace, identity, taskToken, details }),
      )
      return cancelRequested ? 'CANCELLED' : 'ok'
    } catch (thrown) {
      const code: number | undefined = isGrpcServiceError(thrown) ? thrown.code : undefined
      if (code === notFound) return 'NOT_FOUND'
      throw thrown
    }
  },
  async fail({ taskToken }, message) {
    const failure = {
      message,
      source: 'durable-ptc',
      applicationFailureInfo: { type: blockedErrorCode, nonRetryable: true },
    }
    await connection.workflowService.respondActivityTaskFailed({ namespace, identity, taskToken, failure })
  },
  send: (message) => port.postMessage(message),
  schedulingDelayMs,
  // Synchronous: the streams of a worker thread go through the blocked event loop.
  log(line) {
    try {
      if (log !== undefined) appendFileSync(log, `${formatLine(line)}\n`, { mode: 0o600 })
    } catch {
      // A log that can't be written must not stop the heartbeats.
    }
  },
}

const detector = new StallDetector(new SharedState(memory), actions, monotonicMs())
port.on('message', (message: ToWatchdog) => detector.handleMessage(message))
setInterval(() => detector.check(monotonicMs()), tickMs)

/**
 * Details that the codec of the user has encoded have no note.
 *
 * @throws Error when the main thread has not encoded the details yet: a heartbeat without them would clear earlier ones
 */
function payloadsOf({ details, encoded }: WatchedActivity, value: unknown): Payload[] {
  if (hasUserCodec) {
    if (details !== undefined && !encoded) throw new Error('the details are not encoded yet')
    return encoded ? [encoded] : []
  }
  const payload = defaultPayloadConverter.toPayload(value)
  return [encryptionKey === undefined ? payload : encryptPayload(payload, encryptionKey)]
}

/** A line in the format of the worker's log. */
function formatLine(message: string): string {
  const time = new Date().toISOString()
  return logFormat === 'json' ? JSON.stringify({ time, level: 'WARN', message }) : `${time} WARN  ${message}`
}

/** Linux counts the delay for each thread, in nanoseconds. The main thread has the id of the process. */
function schedulingDelayMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000
  } catch {
    return 0
  }
}
