import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker'
import { queryRefusedMessage } from '../common/names.js'

export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'

/** Warnings about normal operation. They are logged at DEBUG only. */
const expectedWarnings = [
  // From every worker without role `workflow`.
  'No workflows registered, not polling for workflow tasks',
  // From every call that still runs when its workflow was cancelled.
  'Activity not found on completion',
]

/**
 * Installs Temporal's runtime, once per process and before any connection. The CLI handles signals: the SDK's own
 * handlers would end workers before their sessions are closed.
 */
export function installRuntime(level: LogLevel, write: (entry: LogEntry) => void): void {
  const writeFiltered = (entry: LogEntry): void => {
    if (level === 'DEBUG' || !isExpectedWarning(entry)) write(entry)
  }
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger(level, writeFiltered),
    // Otherwise core prints to the console, in the middle of other output.
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} } },
  })
}

/** True for a warning about normal operation. */
export function isExpectedWarning(entry: Pick<LogEntry, 'message' | 'meta'>): boolean {
  return expectedWarnings.some((message) => entry.message.startsWith(message)) || isRefusedQuery(entry)
}

/** The SDK logs a rejected query as a failure of the worker. The sender of the query gets the error. */
function isRefusedQuery({ message, meta }: Pick<LogEntry, 'message' | 'meta'>): boolean {
  return [message, ...Object.values(meta ?? {})].some((part) => String(part).includes(queryRefusedMessage))
}
