import { Runtime } from '@temporalio/worker'
import { AuditLog, FileAuditSink } from '../../audit/index.js'
import type { Redact } from '../../common/text/redact.js'
import type { AuditSettings } from '../../audit/option.js'

/** Opens the audit log. The worker closes it. */
export function openAuditLog({ target, includesCode }: AuditSettings, namespace: string, redact: Redact): AuditLog {
  const sink = typeof target === 'string' ? new FileAuditSink(target) : target
  const onLost = (message: string): void => Runtime.instance().logger.error(message)
  return new AuditLog({ sink, namespace, includesCode, redact, onLost })
}
