// The watchdog thread of a worker process. It works while the event loop of the main thread is blocked.
import { appendFileSync, readFileSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import type { ServerRequests } from './server-requests.js'
import { tickMs, monotonicMs, SharedState, type WatchdogThreadData, type ToWatchdog } from './protocol.js'
import { type WatchdogActions, StallDetector } from './stall-detector.js'

const data = workerData as WatchdogThreadData
const { port, memory, log, logFormat } = data

let requests: Promise<ServerRequests> | undefined

function connect(): Promise<ServerRequests> {
  requests ??= import('./server-requests.js').then(({ serverRequests }) => serverRequests(data))
  // The next heartbeat tries again, for instance after a lack of open files.
  requests.catch(() => (requests = undefined))
  return requests
}

const actions: WatchdogActions = {
  heartbeat: async (activity, details) => (await connect()).heartbeat(activity, details),
  fail: async (activity, message) => (await connect()).fail(activity, message),
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
port.on('message', (message: ToWatchdog) => {
  detector.handleMessage(message)
  // With the first activity, not with the first heartbeat: on a busy machine connecting takes seconds, which is too long
  // when a heartbeat is due. Not before: loading the client takes as long as the start of the workflow thread.
  connect().catch(() => undefined)
})
setInterval(() => detector.check(monotonicMs()), tickMs)

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
