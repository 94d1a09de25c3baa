import { ActivityLog, type ActivityRecord } from './activity-log.js'
import type { PayloadReader } from './decode.js'
import { type HistoryEvent, idOf, type PendingActivity, timeOf } from './event.js'
import type { Failure, RunStatus } from './tree.js'

export interface RunStart {
  readonly workflowType: string
  readonly workflowId: string
  /** What goes on in this history began in another. */
  readonly continues: boolean
  readonly input: unknown
  /** What this history is told of those before it. */
  readonly state: unknown
  /** What the run is about, as its memo has it. */
  readonly summary: string
  readonly at: number
}

export interface RunEnd {
  readonly status: Exclude<RunStatus, 'running'>
  readonly at: number
  readonly result?: unknown
  readonly failure?: Failure | undefined
}

/** The events of one history, read once each and kept as what they mean. Events of kinds it does not know are passed over. */
export class RunLog {
  readonly runId: string
  readonly #reader: PayloadReader
  readonly #activities: ActivityLog
  #lastEvent = 0
  start: RunStart | undefined
  /** Undefined while it goes on, be it in another history. */
  end: RunEnd | undefined
  /** Why its workflow can't go on: the server tries again and again. Undefined once it does, and when it has ended. */
  stuck: Failure | undefined

  constructor(runId: string, reader: PayloadReader, previewCharacters: number) {
    this.runId = runId
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
    await this.#readTask(event)
    const started = event.workflowExecutionStartedEventAttributes
    if (started) {
      const summary = await this.#reader.value(started.memo?.fields?.['summary'])
      this.start = {
        workflowType: started.workflowType?.name ?? '',
        workflowId: started.workflowId ?? '',
        continues: Boolean(started.continuedExecutionRunId),
        input: await this.#reader.first(started.input),
        state: await this.#reader.value(started.input?.payloads?.[1]),
        summary: typeof summary === 'string' ? summary : '',
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
  }

  /** Only the first of several failures in a row is an event. */
  async #readTask(event: HistoryEvent): Promise<void> {
    const failed = event.workflowTaskFailedEventAttributes
    if (event.workflowTaskCompletedEventAttributes) this.stuck = undefined
    if (failed && !passing.has(Number(failed.cause))) {
      const failure = await this.#reader.failure(failed.failure)
      this.stuck = { code: 'WORKFLOW_TASK_FAILED', message: failure?.message ?? 'its workflow task fails' }
    }
  }
}

/** WORKFLOW_TASK_FAILED_CAUSE_ UNHANDLED_COMMAND, RESET_STICKY_TASK_QUEUE, RESET_WORKFLOW, UNHANDLED_UPDATE: the next task has no trouble. */
const passing: ReadonlySet<number> = new Set([1, 13, 20, 31])
