export { type AuditEvent, AuditLog, type AuditSink, type NewAuditEvent } from './audit-log.js'
export { FileAuditSink } from './file-sink.js'
export { openTelemetryAuditSink, type OpenTelemetryLogger } from './open-telemetry-sink.js'
