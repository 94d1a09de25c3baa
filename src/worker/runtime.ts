import { noopMetricMeter } from '@temporalio/common'
import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker'
import { messageOf, PtcError } from '../common/errors.js'
import { isLogged } from '../common/telemetry/logged-failures.js'
import { histogramBuckets } from '../common/telemetry/metric-table.js'
import { queryRefusedMessage } from '../common/names.js'

export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'

/** Warnings about normal operation. They are logged at DEBUG only. */
const expectedWarnings = [
  // Logged by every worker without role `workflow`.
  'No workflows registered, not polling for workflow tasks',
  // Logged for every call that still runs when its workflow was cancelled.
  'Activity not found on completion',
]

/**
 * Installs Temporal's runtime, once per process and before any connection. The CLI handles signals: the SDK's own
 * handlers would end workers before their sessions are closed.
 *
 * @param metricsAddress address for Prometheus to read the metrics, as IP address and port; default: none
 * @throws PtcError CONFIG_INVALID when the address can't be used
 */
export function installRuntime(level: LogLevel, write: (entry: LogEntry) => void, metricsAddress?: string): void {
  const prometheus = metricsAddress && { bindAddress: metricsAddress, histogramBucketOverrides: histogramBuckets }
  try {
    Runtime.install({
      shutdownSignals: [],
      logger: new DefaultLogger(level, safeLog(level, write)),
      telemetryOptions: {
        // Otherwise core prints to the console, between other output.
        logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} },
        ...(prometheus && { metrics: { prometheus } }),
      },
    })
  } catch (cause) {
    if (metricsAddress === undefined) throw cause
    throw new PtcError('CONFIG_INVALID', `metrics can't be served at ${metricsAddress}: ${messageOf(cause)}`, {
      hint: 'Give another --metrics-address, or end the process that uses this one.',
      cause,
    })
  }
}

/**
 * Why a Temporal worker of this process has failed. The SDK logs the reason, and then throws an error of the shutdown,
 * such as "Workflow execution context should have been disposed first".
 */
export function causeOfFailure(thrown: unknown): unknown {
  const { logger } = Runtime.instance()
  // The runtime buffers entries for a moment.
  if ('flush' in logger && typeof logger.flush === 'function') logger.flush()
  const cause = loggedFailure ?? thrown
  loggedFailure = undefined
  return cause
}

let loggedFailure: unknown

/** Never throws. Tools may log and throw any value, and the SDK logs it outside of any `catch`. */
export function safeLog(level: LogLevel, write: (entry: LogEntry) => void): (entry: LogEntry) => void {
  return (entry) => {
    try {
      if (entry.message === 'Worker failed') loggedFailure ??= entry.meta?.['error']
      if (level === 'DEBUG' || !(isExpectedWarning(entry) || isRepeated(entry))) write(entry)
    } catch {
      const { meta: _unreadable, ...rest } = entry
      write({ ...rest, meta: { fields: 'could not be read' } })
    }
  }
}

/** True when the runtime of this process exports metrics. */
export function isMetricsExported(): boolean {
  return Runtime.instance().metricMeter !== noopMetricMeter
}

/** True for a warning about normal operation. */
export function isExpectedWarning(entry: Pick<LogEntry, 'message' | 'meta'>): boolean {
  return expectedWarnings.some((message) => entry.message.startsWith(message)) || isRefusedQuery(entry)
}

/** Whether the entry repeats a failure: the entry before has the name of the tool that threw, and its whole stack. */
function isRepeated({ message, meta }: Pick<LogEntry, 'message' | 'meta'>): boolean {
  return message === 'Activity failed' && isLogged(meta?.['error'])
}

/** The SDK logs a rejected query as a failure of the worker. The sender of the query gets the error. */
function isRefusedQuery({ message, meta }: Pick<LogEntry, 'message' | 'meta'>): boolean {
  return [message, ...Object.values(meta ?? {})].some((part) => String(part).includes(queryRefusedMessage))
}
