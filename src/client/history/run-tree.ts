import { defaultDataConverter, type LoadedDataConverter } from '@temporalio/common'
import { buildTree } from './build-tree.js'
import { PayloadReader } from './decode.js'
import type { HistoryEvent, PendingActivity } from './event.js'
import { RunLog } from './run-log.js'
import type { RunTree } from './tree.js'

export interface RunTreeOptions {
  /** As the server has them; what the first event says when not given (after a reset that is the run it began as). */
  readonly workflowId?: string
  readonly runId?: string
  /** The client's own, so that an encrypted history can be read: `client.options.loadedDataConverter`. */
  readonly dataConverter?: LoadedDataConverter
  /** Characters kept of each tool result; the rest is counted and let go. Default 2,000. */
  readonly previewCharacters?: number
}

/** Makes a {@link RunTree} of a run's events as they arrive. Feed it in order; an event it has had is passed over. */
export class RunTreeBuilder {
  readonly #options: RunTreeOptions
  readonly #log: RunLog

  constructor(options: RunTreeOptions = {}) {
    const { dataConverter = defaultDataConverter, previewCharacters = 2_000 } = options
    this.#options = options
    this.#log = new RunLog(new PayloadReader(dataConverter), previewCharacters)
  }

  /** One call at a time. Never rejects for what is in an event: what can't be read is left out. */
  async add(events: Iterable<HistoryEvent>): Promise<void> {
    for (const event of events) await this.#log.read(event)
  }

  /** `description.raw.pendingActivities`: tells waiting from running, and attempts that failed so far. */
  async addPending(pending: Iterable<PendingActivity>): Promise<void> {
    await this.#log.readPending([...pending])
  }

  /** The run as far as it is known. */
  tree(): RunTree {
    const { start, end, activities } = this.#log
    const { workflowId, runId } = this.#options
    const known = start ?? { workflowType: '', workflowId: '', runId: '', input: undefined, at: 0 }
    const identity = { workflowId: workflowId ?? known.workflowId, runId: runId ?? known.runId }
    return buildTree({ start: { ...known, ...identity }, end, activities })
  }
}
