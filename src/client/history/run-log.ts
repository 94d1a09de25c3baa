import { ActivityLog, type ActivityRecord } from './activity-log.js'
import type { PayloadReader } from './decode.js'
import { type HistoryEvent, idOf, type PendingActivity, timeOf } from './event.js'
import type { Failure, RunStatus } from './tree.js'

export interface RunStart {
  readonly workflowType: string
  readonly workflowId: string
  readonly runId: string
  readonly input: unknown
  readonly at: number
}

export interface RunEnd {
  readonly status: Exclude<RunStatus, 'running'>
  readonly at: number
  readonly result?: unknown
  readonly failure?: Failure | undefined
}

/** The events of one run, read once each and kept as what they mean. Events of kinds it does not know are passed over. */
export class RunLog {
  readonly #reader: PayloadReader
  readonly #activities: ActivityLog
  #lastEvent = 0
  start: RunStart | undefined
  end: RunEnd | undefined

  constructor(reader: PayloadReader, previewCharacters: number) {
    this.#reader = reader
    this.#activities = new ActivityLog(reader, previewCharacters)
  }

  get activities(): readonly ActivityRecord[] {
    return this.#activities.records
  }

  async read(event: HistoryEvent): Promise<void> {
    const id = idOf(event.eventId)
    if (id <= this.#lastEvent) return
    this.#lastEvent = id
    await this.#readRun(event)
    await this.#activities.read(event)
  }

  readPending(pending: readonly PendingActivity[]): Promise<void> {
    return this.#activities.readPending(pending)
  }

  async #readRun(event: HistoryEvent): Promise<void> {
    const at = timeOf(event.eventTime)
    const started = event.workflowExecutionStartedEventAttributes
    if (started) {
      this.start = {
        workflowType: started.workflowType?.name ?? '',
        workflowId: started.workflowId ?? '',
        runId: started.originalExecutionRunId ?? '',
        input: await this.#reader.first(started.input),
        at,
      }
    }
    const completed = event.workflowExecutionCompletedEventAttributes
    if (completed) {
      const result = await this.#reader.first(completed.result)
      this.end = { status: 'completed', at, result }
    }
    const failed = event.workflowExecutionFailedEventAttributes
    if (failed) this.end = { status: 'failed', at, failure: await this.#reader.failure(failed.failure) }
    const terminated = event.workflowExecutionTerminatedEventAttributes
    if (terminated) {
      const message = terminated.reason || 'terminated'
      this.end = { status: 'terminated', at, failure: { code: 'TERMINATED', message } }
    }
    if (event.workflowExecutionCanceledEventAttributes) this.end = { status: 'cancelled', at }
    if (event.workflowExecutionTimedOutEventAttributes) this.end = { status: 'timed_out', at }
    if (event.workflowExecutionContinuedAsNewEventAttributes) this.end = { status: 'continued', at }
  }
}
