import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker'
import { queryRefused } from '../common/queries.js'

export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'

/** Warnings of what is as it should be: only for who asks for everything. */
const expected = [
  // Of every worker whose role is not `workflow`.
  'No workflows registered, not polling for workflow tasks',
  // Of every call that a cancelled run leaves behind.
  'Activity not found on completion',
]

/**
 * Sets up Temporal's native side, once a process and before any connection. Signals are the command line's business: the
 * SDK's own handling would end workers that we have yet to let go of sessions for.
 */
export function installRuntime(level: LogLevel, write: (entry: LogEntry) => void): void {
  const writeUnexpected = (entry: LogEntry): void => {
    if (level === 'DEBUG' || !isExpected(entry)) write(entry)
  }
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger(level, writeUnexpected),
    // The native side would print to the console otherwise, in the middle of whatever is shown there.
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} } },
  })
}

/** Does it only say what is as it should be? */
export function isExpected(entry: Pick<LogEntry, 'message' | 'meta'>): boolean {
  return expected.some((message) => entry.message.startsWith(message)) || isRefusedQuery(entry)
}

/** The SDK takes a refused query for a failure of the worker. Whoever sent the query is told. */
function isRefusedQuery({ message, meta }: Pick<LogEntry, 'message' | 'meta'>): boolean {
  return [message, ...Object.values(meta ?? {})].some((part) => String(part).includes(queryRefused))
}
