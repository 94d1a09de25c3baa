import type { ActivityRecord } from './activity-log.js'
import type { PayloadReader } from './decode.js'
import type { HistoryEvent, PendingActivity } from './event.js'
import { type RunEnd, RunLog, type RunStart } from './run-log.js'
import type { Failure } from './tree.js'

/** The events of a run over all the histories that it went on in, the first first. */
export class ChainLog {
  readonly #reader: PayloadReader
  readonly #previewCharacters: number
  readonly #logs: RunLog[] = []
  /** The one that is being read. */
  #current: RunLog | undefined

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

  get stuck(): Failure | undefined {
    return this.#logs.at(-1)?.stuck
  }

  get activities(): readonly ActivityRecord[] {
    return this.#logs.flatMap(({ activities }) => activities)
  }

  /** @param runId the history it is of; undefined: that of the first event before it */
  async read(event: HistoryEvent, runId: string | undefined): Promise<void> {
    const started = event.workflowExecutionStartedEventAttributes
    if (runId !== undefined) this.#current = this.#logOf(runId)
    else if (started || !this.#current) this.#current = this.#logOf(started?.originalExecutionRunId ?? '')
    await this.#current.read(event)
  }

  /** Nothing is carried over: what is pending is of the last history. */
  async readPending(pending: readonly PendingActivity[]): Promise<void> {
    await this.#logs.at(-1)?.readPending(pending)
  }

  #logOf(runId: string): RunLog {
    const known = this.#logs.find((log) => log.runId === runId)
    if (known) return known
    const log = new RunLog(runId, this.#reader, this.#previewCharacters)
    this.#logs.push(log)
    return log
  }
}
