import type { AuditSink } from './audit-log.js'

/** The part of OpenTelemetry's `Logger` (`@opentelemetry/api-logs`) that the sink uses. */
export interface OpenTelemetryLogger {
  emit(record: {
    readonly eventName?: string
    readonly timestamp?: Date
    readonly severityNumber?: number
    readonly severityText?: string
    readonly body?: string
    readonly attributes?: Record<string, string | number>
  }): void
}

/** OpenTelemetry's SeverityNumber.INFO. */
const info = 9

/**
 * An audit sink that emits each event as a log record: `logs.getLogger('audit')`. The exporter of the logger decides
 * when a record is stored. A killed worker loses the records that the exporter has not sent.
 */
export function openTelemetryAuditSink(logger: OpenTelemetryLogger): AuditSink {
  return {
    write({ type, time, id, ...fields }) {
      logger.emit({
        eventName: `ptc.audit.${type}`,
        timestamp: new Date(time),
        severityNumber: info,
        severityText: 'INFO',
        body: type,
        attributes: { 'ptc.audit.id': id, ...prefixed(fields) },
      })
      return Promise.resolve()
    },
  }
}

function prefixed(fields: object): Record<string, string | number> {
  const flat = Object.entries(fields).flatMap(([name, value]: readonly [string, unknown]) =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).map(([member, inner]) => [`${name}.${member}`, inner as string | number] as const)
      : [[name, value as string | number] as const],
  )
  return Object.fromEntries(flat.map(([name, value]) => [`ptc.audit.${name}`, value]))
}
