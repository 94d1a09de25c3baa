import type { ActivityRecord } from './activity-record.js'
import type { PayloadReader } from '../../temporal/payload-reader.js'
import type { HistoryEvent, PendingActivity } from '../../temporal/event.js'
import { type RunEnd, ExecutionLog, type RunStart } from './execution-log.js'
import type { BudgetPause } from '../../../common/budget/budget.js'
import type { Failure } from '../tree.js'

/** The events of a run over its continue-as-new chain, from the first execution on. */
export class RunEventLog {
  readonly #reader: PayloadReader
  readonly #previewCharacters: number
  readonly #logs: ExecutionLog[] = []
  /** The execution of the current events. */
  #current: ExecutionLog | undefined

  constructor(reader: PayloadReader, previewCharacters: number) {
    this.#reader = reader
    this.#previewCharacters = previewCharacters
  }

  get runIds(): readonly string[] {
    return this.#logs.map(({ runId }) => runId)
  }

  get start(): RunStart | undefined {
    return this.#logs[0]?.start
  }

  get end(): RunEnd | undefined {
    return this.#logs.at(-1)?.end
  }

  get taskFailure(): Failure | undefined {
    return this.#logs.at(-1)?.taskFailure
  }

  get paused(): BudgetPause | undefined {
    return this.#logs.at(-1)?.paused
  }

  get activities(): readonly ActivityRecord[] {
    return this.#logs.flatMap(({ activities }) => activities)
  }

  /** Number of the first activities that no later event changes: those before the first activity that has not ended. */
  get settledCount(): number {
    const { activities } = this
    const last = this.#logs.at(-1)?.activities ?? []
    const firstOpen = last.findIndex(({ end }) => end === undefined)
    // Activities are not carried over to the next execution.
    return activities.length - last.length + (firstOpen < 0 ? last.length : firstOpen)
  }

  /** @param runId the execution of the event; undefined: the execution of the latest start event */
  read(event: HistoryEvent, runId: string | undefined): void {
    const started = event.workflowExecutionStartedEventAttributes
    if (runId !== undefined) this.#current = this.#logOf(runId)
    else if (started || !this.#current) this.#current = this.#logOf(started?.originalExecutionRunId ?? '')
    this.#current.read(event)
  }

  /** Reads pending activities. They belong to the last execution, because activities are not carried over. */
  readPending(pending: readonly PendingActivity[]): void {
    this.#logs.at(-1)?.readPending(pending)
  }

  #logOf(runId: string): ExecutionLog {
    const existing = this.#logs.find((log) => log.runId === runId)
    if (existing) return existing
    const log = new ExecutionLog(runId, this.#reader, this.#previewCharacters)
    this.#logs.push(log)
    return log
  }
}
