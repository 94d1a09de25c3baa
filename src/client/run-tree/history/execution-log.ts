import { transientWorkflowTaskFailures } from '../../api-enums.js'
import { ActivityLog } from './activity-log.js'
import type { ActivityRecord } from './activity-record.js'
import type { PayloadReader } from '../../temporal/payload-reader.js'
import { errorTable } from '../../../common/errors.js'
import { memoKeys } from '../../../common/names.js'
import type { BudgetPause } from '../../../common/budget/budget.js'
import { type HistoryEvent, toEventId, type PendingActivity, toMilliseconds } from '../../temporal/event.js'
import { budgetPause } from './payload-schemas.js'
import type { Failure, RunStatus } from '../tree.js'

export interface RunStart {
  readonly workflowType: string
  readonly workflowId: string
  /** True when this execution continues an earlier one. */
  readonly isContinuation: boolean
  readonly input: unknown
  /** The state that the earlier execution carried over. */
  readonly state: unknown
  /** The summary in the memo: the beginning of the question or program. */
  readonly summary: string
  readonly at: number
}

export interface RunEnd {
  readonly status: Exclude<RunStatus, 'running'>
  readonly at: number
  readonly result?: unknown
  readonly failure?: Failure | undefined
}

type TaskFailedAttributes = NonNullable<HistoryEvent['workflowTaskFailedEventAttributes']>

/** Interprets the events of one execution, each once. Unknown event types are ignored. */
export class ExecutionLog {
  readonly runId: string
  readonly #reader: PayloadReader
  readonly #activities: ActivityLog
  #lastEventId = 0
  start: RunStart | undefined
  /** Undefined while the run continues, in this execution or the next. */
  end: RunEnd | undefined
  /** The item of the budget for which the run waits. */
  paused: BudgetPause | undefined
  /** Why the workflow task fails. The server retries it. Undefined once a task succeeds, and when the run has ended. */
  taskFailure: Failure | undefined

  constructor(runId: string, reader: PayloadReader, previewCharacters: number) {
    this.runId = runId
    this.#reader = reader
    this.#activities = new ActivityLog(reader, previewCharacters)
  }

  get activities(): readonly ActivityRecord[] {
    return this.#activities.records
  }

  read(event: HistoryEvent): void {
    const id = toEventId(event.eventId)
    if (id <= this.#lastEventId) return
    this.#lastEventId = id
    this.#readExecutionEvent(event)
    this.#activities.read(event)
  }

  readPending(pending: readonly PendingActivity[]): void {
    return this.#activities.readPending(pending)
  }

  #readExecutionEvent(event: HistoryEvent): void {
    const at = toMilliseconds(event.eventTime)
    if (event.workflowTaskCompletedEventAttributes) this.taskFailure = undefined
    if (event.workflowTaskFailedEventAttributes) this.#readTaskFailure(event.workflowTaskFailedEventAttributes)
    const started = event.workflowExecutionStartedEventAttributes
    if (started) {
      const summary = this.#reader.value(started.memo?.fields?.[memoKeys.summary])
      this.start = {
        workflowType: started.workflowType?.name ?? '',
        workflowId: started.workflowId ?? '',
        isContinuation: Boolean(started.continuedExecutionRunId),
        input: this.#reader.first(started.input),
        state: this.#reader.value(started.input?.payloads?.[1]),
        summary: typeof summary === 'string' ? summary : '',
        at,
      }
    }
    const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields
    if (memo && memoKeys.paused in memo) {
      this.paused = budgetPause.safeParse(this.#reader.value(memo[memoKeys.paused])).data
    }
    const completed = event.workflowExecutionCompletedEventAttributes
    if (completed) {
      const result = this.#reader.first(completed.result)
      this.end = { status: 'completed', at, result }
    }
    const failed = event.workflowExecutionFailedEventAttributes
    if (failed) this.end = { status: 'failed', at, failure: this.#reader.failure(failed.failure) }
    const terminated = event.workflowExecutionTerminatedEventAttributes
    if (terminated) {
      const message = terminated.reason || 'terminated'
      this.end = { status: 'terminated', at, failure: { code: 'TERMINATED', message } }
    }
    if (event.workflowExecutionCanceledEventAttributes) this.end = { status: 'cancelled', at }
    if (event.workflowExecutionTimedOutEventAttributes) this.end = { status: 'timed_out', at }
  }

  /** Reads the failure of a workflow task. Only the first of several consecutive failures is an event. */
  #readTaskFailure(failed: TaskFailedAttributes): void {
    if (transientWorkflowTaskFailures.has(Number(failed.cause))) return
    const failure = this.#reader.failure(failed.failure)
    const code =
      failure !== undefined && Object.hasOwn(errorTable, failure.code) ? failure.code : 'WORKFLOW_TASK_FAILED'
    this.taskFailure = { code, message: failure?.message ?? 'the workflow task fails' }
  }
}
