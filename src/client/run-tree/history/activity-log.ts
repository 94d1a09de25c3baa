import { z } from 'zod'
import { readStoredResult } from '../../../common/calls/stored-result.js'
import { truncateEnd } from '../../../common/text/text.js'
import { pendingStates } from '../../api-enums.js'
import type { PayloadReader } from '../../temporal/payload-reader.js'
import {
  type FailurePayload,
  type HistoryEvent,
  toEventId,
  type PendingActivity,
  toMilliseconds,
} from '../../temporal/event.js'
import { firstStepRecord, followUpRecords } from './follow-up-records.js'
import { ChildCallLog } from './child-call-log.js'
import { parseActivityInput, parseActivityResult } from './activity-payloads.js'
import { Decisions } from './decisions.js'
import { sharedCellRecord } from './shared-cells.js'
import { uploadRecord } from './uploads.js'
import { type ActivityRecord, openRecord } from './activity-record.js'

/** The activities of one execution, from their events. */
export class ActivityLog {
  readonly #reader: PayloadReader
  readonly #previewCharacters: number
  readonly #byEvent = new Map<number, ActivityRecord>()
  readonly #records: ActivityRecord[] = []
  readonly #childCalls: ChildCallLog
  readonly #decisions: Decisions

  constructor(reader: PayloadReader, previewCharacters: number) {
    this.#reader = reader
    this.#previewCharacters = previewCharacters
    this.#decisions = new Decisions(reader)
    this.#childCalls = new ChildCallLog(reader, previewCharacters, this.#records)
  }

  /**
   * The records, in the order in which the activities were scheduled, or executed as a part of the previous activity.
   */
  get records(): readonly ActivityRecord[] {
    return this.#records
  }

  /**
   * An activity has no events between its scheduling and its end; the server's description of pending activities adds
   * the rest.
   */
  readPending(pending: readonly PendingActivity[]): void {
    const openRecords = new Map(this.records.filter(({ end }) => !end).map((record) => [record.activityId, record]))
    for (const activity of pending) {
      const { activityId, attempt, state, lastFailure, heartbeatDetails, nextAttemptScheduleTime, scheduledTime } =
        activity
      const record = openRecords.get(activityId ?? '')
      if (!record) continue
      record.started = Number(state) === pendingStates.started
      record.attempts = Math.max((attempt ?? 1) - (record.started ? 0 : 1), 0)
      record.lastFailure = this.#reader.failure(lastFailure)
      record.blockedNote = this.#reader.blockedNote(heartbeatDetails) ?? record.blockedNote
      const next = record.started ? undefined : (nextAttemptScheduleTime ?? scheduledTime)
      record.nextAttemptAt = next && record.attempts > 0 ? toMilliseconds(next) : undefined
      const details = this.#reader.first(heartbeatDetails)
      record.progress = heartbeatProgress(details) ?? record.progress
      record.printed = heartbeatOutput(details) ?? record.printed
    }
  }

  read(event: HistoryEvent): void {
    const at = toMilliseconds(event.eventTime)
    const scheduled = event.activityTaskScheduledEventAttributes
    if (scheduled) {
      const name = scheduled.activityType?.name ?? ''
      const activityId = scheduled.activityId ?? ''
      const input = parseActivityInput(name, this.#reader.first(scheduled.input), activityId)
      const record = openRecord(this.#reader, event, { activityId, name, input })
      this.#byEvent.set(toEventId(event.eventId), record)
      this.#records.push(record)
      return
    }
    const started = event.activityTaskStartedEventAttributes
    if (started) {
      const record = this.#byEvent.get(toEventId(started.scheduledEventId))
      if (!record) return
      record.started = true
      record.attempts = started.attempt ?? 1
      record.lastFailure = this.#reader.failure(started.lastFailure)
      return
    }
    const completed = event.activityTaskCompletedEventAttributes
    if (completed) {
      const record = this.#byEvent.get(toEventId(completed.scheduledEventId))
      if (!record) return
      record.blockedNote = this.#reader.blockedNote(undefined, completed.result)
      this.#complete(record, this.#reader.first(completed.result), at)
      return
    }
    const failed = event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes
    if (failed) {
      const record = this.#byEvent.get(toEventId(failed.scheduledEventId))
      if (!record) return
      const failure = this.#reader.failure(failed.failure) ?? { code: 'UNKNOWN', message: '' }
      const { timeoutFailureInfo } = failed.failure?.cause ?? failed.failure ?? {}
      record.blockedNote = this.#reader.blockedNote(timeoutFailureInfo?.lastHeartbeatDetails)
      const stored = record.input.type === 'step' ? this.#storedResult(failed.failure) : undefined
      if (stored === undefined) record.end = { type: 'failed', at, failure }
      else this.#complete(record, stored, at)
      return
    }
    if (this.#childCalls.read(event, at)) return
    const decision = this.#decisions.read(event)
    if (decision) this.#records.push(decision)
    const upload = uploadRecord(this.#reader, event, at)
    if (upload) this.#records.push(upload)
    const sharedCell = sharedCellRecord(this.#reader, event, at)
    if (sharedCell) this.#records.push(sharedCell)
    const cancelled = event.activityTaskCanceledEventAttributes
    const record = cancelled && this.#byEvent.get(toEventId(cancelled.scheduledEventId))
    if (record) record.end = { type: 'cancelled', at, failure: { code: 'CANCELLED', message: 'cancelled' } }
  }

  #complete(record: ActivityRecord, value: unknown, at: number): void {
    const followUps = followUpRecords(record, value, at, this.#previewCharacters)
    const result = parseActivityResult(record.input, value, this.#previewCharacters)
    record.end = { type: 'completed', at: followUps?.resultAt ?? at, result }
    const first = firstStepRecord(record)
    this.#records.push(...(first ? [first] : []), ...(followUps?.records ?? []))
  }

  /** The result of a step that its host has stored before it was lost. The run has continued with it. */
  #storedResult(failure: FailurePayload | null | undefined): unknown {
    for (let each = failure; each; each = each.cause) {
      const stored = readStoredResult(this.#reader.first(each.timeoutFailureInfo?.lastHeartbeatDetails))
      if (stored !== undefined) return stored
    }
    return undefined
  }
}

/** The part of the heartbeats of a tool's activity for people: `src/activities/tool-call/attempt-report.ts`. */
const report = z.object({ milestone: z.string().optional(), details: z.unknown().optional() })

/** The heartbeats of a running step: `src/activities/session/execute-step.ts`. */
const stepReport = z.object({ printed: z.string() })

const maxCharacters = 200

/** Returns the end of the output of running code since the start of its step. */
function heartbeatOutput(heartbeatDetails: unknown): string | undefined {
  return stepReport.safeParse(heartbeatDetails).data?.printed
}

/** Returns the reported progress of a tool: its last milestone, else the details of its last heartbeat. */
function heartbeatProgress(heartbeatDetails: unknown): string | undefined {
  const { milestone, details } = report.safeParse(heartbeatDetails).data ?? {}
  if (milestone !== undefined) return milestone
  if (details === undefined || details === null) return undefined
  return truncateEnd(typeof details === 'string' ? details : (JSON.stringify(details) ?? ''), maxCharacters)
}
