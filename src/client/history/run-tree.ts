import { defaultDataConverter, type LoadedDataConverter } from '@temporalio/common'
import { buildTree } from './build-tree.js'
import { ChainLog } from './chain-log.js'
import { PayloadReader } from './decode.js'
import type { HistoryEvent, PendingActivity } from './event.js'
import { FetchedValues, type ValueReader } from './fetched-values.js'
import { shownValues } from './shown-values.js'
import type { RunTree } from './tree.js'

export interface RunTreeOptions {
  /** As the server has it; what the first event says when not given. */
  readonly workflowId?: string
  /** The client's own, so that an encrypted history can be read: `client.options.loadedDataConverter`. */
  readonly dataConverter?: LoadedDataConverter
  /** Characters kept of each tool result; the rest is counted and let go. Default 2,000. */
  readonly previewCharacters?: number
}

/** Makes a {@link RunTree} of a run's events as they arrive. Feed it in order; an event it has had is passed over. */
export class RunTreeBuilder {
  readonly #workflowId: string | undefined
  readonly #log: ChainLog
  readonly #fetched: FetchedValues

  constructor(options: RunTreeOptions = {}) {
    const { workflowId, dataConverter = defaultDataConverter, previewCharacters = 2_000 } = options
    this.#workflowId = workflowId
    this.#log = new ChainLog(new PayloadReader(dataConverter), previewCharacters)
    this.#fetched = new FetchedValues(previewCharacters)
  }

  /**
   * One call at a time. Never rejects for what is in an event: what can't be read is left out.
   *
   * @param runId the history they are of, as the server has it; what its first event says when not given (after a reset that is
   * the run it began as)
   */
  async add(events: Iterable<HistoryEvent>, runId?: string): Promise<void> {
    for (const event of events) await this.#log.read(event, runId)
  }

  /** `description.raw.pendingActivities` of the last history: tells waiting from running, and attempts that failed so far. */
  async addPending(pending: Iterable<PendingActivity>): Promise<void> {
    await this.#log.readPending([...pending])
  }

  /**
   * Fetches code and output that is kept elsewhere, so that later trees have it. Never rejects: what can't be fetched is shown
   * by its beginning.
   *
   * @param full arguments, and the beginnings of results, too
   */
  async fetchValues(reader: ValueReader, full: boolean, signal?: AbortSignal): Promise<void> {
    await this.#fetched.fetch(shownValues(this.tree(), full), reader, signal)
  }

  /** The run as far as it is known. */
  tree(): RunTree {
    const { start = unknownStart, end, stuck, activities, runIds } = this.#log
    const workflowId = this.#workflowId ?? start.workflowId
    return buildTree({ start: { ...start, workflowId }, end, stuck, activities, runIds }, this.#fetched)
  }
}

const unknownStart = {
  workflowType: '',
  workflowId: '',
  continues: false,
  input: undefined,
  state: undefined,
  summary: '',
  at: 0,
}
