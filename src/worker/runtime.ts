import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker'
import { queryRefused } from '../common/queries.js'

export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'

/** Said of every worker whose role is not `workflow`, which is as it should be. */
const expected = 'No workflows registered, not polling for workflow tasks'

/**
 * Sets up Temporal's native side, once a process and before any connection. Signals are the command line's business: the
 * SDK's own handling would end workers that we have yet to let go of sessions for.
 */
export function installRuntime(level: LogLevel, write: (entry: LogEntry) => void): void {
  const writeUnexpected = (entry: LogEntry): void => {
    if (entry.message !== expected && !isRefusedQuery(entry)) write(entry)
  }
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger(level, writeUnexpected),
    // The native side would print to the console otherwise, in the middle of whatever is shown there.
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} } },
  })
}

/** The SDK takes a refused query for a failure of the worker. Whoever sent the query is told. */
function isRefusedQuery({ message, meta }: LogEntry): boolean {
  return [message, ...Object.values(meta ?? {})].some((part) => String(part).includes(queryRefused))
}
