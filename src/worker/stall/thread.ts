// The watch thread of a worker process: goes on while the event loop of the process is blocked.
import { appendFileSync, readFileSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { Connection, defaultPayloadConverter, isGrpcServiceError } from '@temporalio/client'
import type { ErrorCode } from '../../common/errors.js'
import { everyMs, monotonicMs, SharedState, type ThreadData, type ToThread } from './protocol.js'
import { type Effects, Watcher } from './watcher.js'

/** gRPC's NOT_FOUND. */
const notFound = 5
const answerMs = 5_000
const blocked: ErrorCode = 'TOOL_BLOCKED'

const { port, memory, namespace, identity, log, connectionOptions } = workerData as ThreadData

// Loaded and connected now: on a busy machine that takes seconds, too long when a heartbeat is due.
const connection = Connection.lazy(connectionOptions)
connection.ensureConnected().catch(() => undefined)

const effects: Effects = {
  async heartbeat({ taskToken }, value) {
    const details = { payloads: [defaultPayloadConverter.toPayload(value)] }
    try {
      const { cancelRequested } = await connection.withDeadline(Date.now() + answerMs, () =>
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
    const failure = { message, source: 'durable-ptc', applicationFailureInfo: { type: blocked, nonRetryable: true } }
    await connection.workflowService.respondActivityTaskFailed({ namespace, identity, taskToken, failure })
  },
  tell: (message) => port.postMessage(message),
  waitedMs,
  // The streams of a worker thread go through the event loop that is blocked.
  log(line) {
    try {
      if (log !== undefined) appendFileSync(log, `${new Date().toISOString()} WARN  ${line}\n`, { mode: 0o600 })
    } catch {
      // Heartbeats are not stopped by a log that can't be written.
    }
  },
}

const watcher = new Watcher(new SharedState(memory), effects, monotonicMs())
port.on('message', (message: ToThread) => watcher.take(message))
setInterval(() => watcher.look(monotonicMs()), everyMs)

/** Linux counts it for each thread, in nanoseconds; the main thread has the id of the process. */
function waitedMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000
  } catch {
    return 0
  }
}
