/*
 * Audit log: records which run executed which code, which calls it made, and how they ended.
 *
 * Owns: the events, their ids, and the retries of a sink. Boundary: activities report events; a sink stores them
 * (file-sink.ts, open-telemetry-sink.ts, or a sink of the user).
 *
 * Invariants:
 * 1. The event of a begin is stored before the effect starts. An effect whose event can't be stored does not start.
 * 2. An event is stored at least once. `id` is the same for an event that is stored again: after a retry of its
 *    activity, or a rebuild on another worker.
 * 3. An event has digests and sizes, and never arguments, results, questions or answers. Code is included only on
 *    demand, after the redaction hook.
 * 4. Events are only appended.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { rejectOnUncaught } from '../common/async/uncaught-errors.js'
import { messageOf, PtcError } from '../common/errors.js'
import type { EventOf } from '../common/telemetry/event-table.js'
import { metrics } from '../common/telemetry/metrics.js'
import type { Redact } from '../common/text/redact.js'

interface AuditEventBase {
  /** Stays the same when the event is stored again. */
  readonly id: string
  /** Time by the clock of the worker, in ISO 8601. */
  readonly time: string
  readonly namespace: string
  readonly workflowId: string
  readonly runId: string
  /** Number of the attempt of the activity, from 1; 0 for an event of the activity before it. */
  readonly attempt: number
  /** `user` and `tenant` from the context of the run. Absent when the context has none. */
  readonly user?: string
  readonly tenant?: string
}

/** An event of the log. docs/reference/events.md describes each type. */
export type AuditEvent = AuditEventBase & EventOf<'audit'>

/** An event in the form in which an activity reports it. */
export type NewAuditEvent = Omit<AuditEventBase, 'time' | 'namespace'> & EventOf<'audit'>

export interface AuditSink {
  /** Resolves when the event is stored. After a rejection it is called again with the same event. */
  write(event: AuditEvent): Promise<void>
  close?(): Promise<void>
}

interface AuditLogOptions {
  readonly sink: AuditSink
  readonly namespace: string
  readonly includesCode: boolean
  /** Applies to code. Must not throw. */
  readonly redact: Redact
  /** Milliseconds for which a rejecting sink is called again. Default 30 seconds. */
  readonly retryForMs?: number
  /** Receives a message when the event of an end could not be stored. */
  readonly onLost: (message: string) => void
}

const delayMs = { initial: 50, maximum: 2_000 } as const

export class AuditLog {
  readonly #options: AuditLogOptions

  constructor(options: AuditLogOptions) {
    this.#options = options
  }

  /** The code of a cell, if the log includes code. */
  codeField(code: string): { readonly code?: string } {
    const { includesCode, redact } = this.#options
    return includesCode ? { code: redact(code, { kind: 'code' }) } : {}
  }

  /**
   * Stores an event before the effect that it reports.
   *
   * @throws PtcError AUDIT_UNAVAILABLE; the signal's reason
   */
  async before(event: NewAuditEvent, signal: AbortSignal): Promise<void> {
    try {
      await this.#write(event, signal)
    } catch (cause) {
      signal.throwIfAborted()
      metrics.add('ptc_audit_failures_total', 1, {})
      throw new PtcError('AUDIT_UNAVAILABLE', `the audit log can't be written: ${messageOf(cause)}`, { cause })
    }
  }

  /** Stores an event after the effect that it reports. Never rejects: a failed write must not repeat the effect. */
  async after(event: NewAuditEvent): Promise<void> {
    try {
      await this.#write(event, undefined)
    } catch (thrown) {
      metrics.add('ptc_audit_failures_total', 1, {})
      this.#options.onLost(`audit event ${event.id} was lost: ${messageOf(thrown)}`)
    }
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await this.#options.sink.close?.()
  }

  async #write(event: NewAuditEvent, signal: AbortSignal | undefined): Promise<void> {
    const { sink, namespace, retryForMs = 30_000 } = this.#options
    const full: AuditEvent = { ...event, time: new Date(Date.now()).toISOString(), namespace }
    const end = performance.now() + retryForMs
    for (let waitMs: number = delayMs.initial; ; waitMs = Math.min(2 * waitMs, delayMs.maximum)) {
      try {
        return await rejectOnUncaught({ name: 'the audit sink', isShared: true }, () => sink.write(full))
      } catch (thrown) {
        if (signal?.aborted === true || performance.now() + waitMs > end) throw thrown
        await delay(waitMs)
      }
    }
  }
}
