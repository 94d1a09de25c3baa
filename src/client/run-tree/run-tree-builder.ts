import { defaultDataConverter, type LoadedDataConverter } from '@temporalio/common'
import { buildTree } from './build/build-tree.js'
import type { CallNodes } from './build/call-node.js'
import { ActivityReplay } from './build/replay-activities.js'
import type { RunStart } from './history/execution-log.js'
import { type RunState, runState } from './history/payload-schemas.js'
import { RunEventLog } from './history/run-event-log.js'
import { PayloadReader } from '../temporal/payload-reader.js'
import type { HistoryEvent, PendingActivity } from '../temporal/event.js'
import { FetchedValues, type ValueReader, valuesToFetch } from './values/fetched-values.js'
import type { RunTree } from './tree.js'

export interface RunTreeOptions {
  /** Workflow id of the run. Default: the workflow id in the first event. */
  readonly workflowId?: string
  /** Namespace in the tokens of deferred calls. Default: `default`. */
  readonly namespace?: string
  /** The data converter of the client, which can decrypt histories: `client.options.loadedDataConverter`. */
  readonly dataConverter?: LoadedDataConverter
  /** Maximum length of the preview of a tool result. Default 2,000. */
  readonly previewCharacters?: number
}

/** Builds a {@link RunTree} from a run's events. Add them in order; an event that was added before is ignored. */
export class RunTreeBuilder {
  readonly #workflowId: string | undefined
  readonly #namespace: string
  readonly #reader: PayloadReader
  readonly #log: RunEventLog
  readonly #fetched: FetchedValues
  #callNodes: CallNodes = new WeakMap()
  /** The tree of all added events; undefined after a change. */
  #tree: RunTree | undefined
  /** Created with the first event of the run. */
  #replay: { readonly activities: ActivityReplay; readonly carriedState: RunState | undefined } | undefined

  constructor(options: RunTreeOptions = {}) {
    const {
      workflowId,
      namespace = 'default',
      dataConverter = defaultDataConverter,
      previewCharacters = 2_000,
    } = options
    this.#workflowId = workflowId
    this.#namespace = namespace
    this.#reader = new PayloadReader(dataConverter)
    this.#log = new RunEventLog(this.#reader, previewCharacters)
    this.#fetched = new FetchedValues(previewCharacters)
  }

  /**
   * Adds events. Must not run concurrently. Unreadable data is left out, unless it is encrypted.
   *
   * @param runId the execution of the events; default: the run id in its first event. After a reset, that is the run id
   * before the reset: pass `runId`.
   * @throws PtcError ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED
   */
  async add(events: Iterable<HistoryEvent>, runId?: string): Promise<void> {
    const page = [...events]
    await this.#reader.prepare(page)
    this.#tree = undefined
    for (const event of page) this.#log.read(event, runId)
  }

  /**
   * Adds `description.raw.pendingActivities` of the last execution. It has the state and the failed attempts of an
   * activity.
   */
  async addPending(pending: Iterable<PendingActivity>): Promise<void> {
    const all = [...pending]
    await this.#reader.prepare(all)
    this.#tree = undefined
    this.#log.readPending(all)
  }

  /**
   * Fetches external code and output for later trees. Never rejects: the tree shows the preview of a value that can't
   * be fetched.
   *
   * @param full when true, also fetches arguments, and the start of results
   */
  async fetchValues(reader: ValueReader, full: boolean, signal?: AbortSignal): Promise<void> {
    const values = valuesToFetch(this.tree(), full)
    if (!(await this.#fetched.fetch(values, reader, signal))) return
    this.#callNodes = new WeakMap()
    this.#tree = undefined
  }

  /** Returns the tree of the events so far. */
  tree(): RunTree {
    return (this.#tree ??= this.#buildTree())
  }

  #buildTree(): RunTree {
    const { start = emptyStart, end, taskFailure, paused, activities, settledCount, runIds } = this.#log
    const workflowId = this.#workflowId ?? start.workflowId
    const { activities: replay, carriedState } = this.#replayOf(start)
    const records = {
      start: { ...start, workflowId },
      end,
      taskFailure,
      paused,
      activities,
      settledCount,
      runIds,
      carriedState,
      namespace: this.#namespace,
    }
    const caches = { fetched: this.#fetched, callNodes: this.#callNodes }
    return buildTree(records, replay.run(activities, settledCount), caches)
  }

  #replayOf(start: RunStart) {
    if (this.#replay) return this.#replay
    const carriedState = runState.safeParse(start.state).data
    const replay = { activities: new ActivityReplay(start.at, carriedState), carriedState }
    if (start !== emptyStart) this.#replay = replay
    return replay
  }
}

const emptyStart: RunStart = {
  workflowType: '',
  workflowId: '',
  isContinuation: false,
  input: undefined,
  state: undefined,
  summary: '',
  at: 0,
}
