/*
 * Refuses a query when the state of the run may be one that no workflow task has produced.
 * `docs/adr/0001-refuse-queries-between-workflow-tasks.md` has the alternatives and the figures.
 *
 * Owns: the decision for each activation of a workflow. There is one guard for each workflow in a worker's cache.
 * Boundary: an interceptor that the build puts into the workflow bundle. It imports nothing of the workflows, reads
 * activations, and changes none. The client sends a refused query again (`src/client/temporal/query-run.ts`).
 *
 * Invariants:
 * 1. A query on its own (`directQueryId`) is answered only from a state that a workflow task has produced.
 * 2. No other activation fails: no workflow task, no replay, and no query that comes with a workflow task.
 *
 * The defect, in sdk-core 1.24 (`history_update.rs`, `workflow_machines.rs`): the server sends a query to the normal
 * task queue when the worker that has the run in its cache does not take it. Such a query brings the whole history,
 * with the events after the last completed workflow task. sdk-core applies those events too, although no workflow task
 * has started for them, at the time and the size of the last one. It keeps the commands that the workflow then makes,
 * and sends them with the next workflow task. A replay applies the same events in that later task, at another time and
 * together with other events, and makes other commands. So the run can't continue once it leaves the cache.
 *
 * The remedy: when the activation for a query on its own fails, sdk-core fails only the query, and removes the run from
 * its cache with all commands that were not sent.
 *
 * The guard answers such a query when one of two rules says that the state is that of a workflow task:
 *
 * 1. The last activation was a replay (`isReplaying`). sdk-core replays up to the last completed workflow task, and
 *    applies any event after it with `isReplaying` false.
 * 2. The last two activations were live and differ in time and in size. sdk-core sets both when it applies the start
 *    of a workflow task. The server has a larger size for each task. Events without the start of a task do not change
 *    them.
 *
 * Else the guard refuses. The worker then has no state of the run, and rule 1 lets it answer the next query, unless
 * new events have arrived meanwhile. So an unnecessary refusal costs a second query and a replay. It occurs:
 *
 * - at the first live activation of a run on a worker (a new run, a takeover, an eviction): there is none to compare
 *   with;
 * - on a server that does not report the size of histories (before 1.20, the time-skipping test server): the size is
 *   always 0;
 * - after two activations in one workflow task, and after a rejected update (the server takes its workflow task back):
 *   the time or the size of the next activation is the same;
 * - once the run has cancelled an activity: the end of that activity makes a workflow task without an activation. The
 *   guard does not see that task, and could confuse its time and size with those of a later one;
 * - always, for a run that was terminated with events after its last workflow task.
 *
 * A reset or a continue-as-new makes another run, which has another guard. A worker without a cache does not have the
 * defect; the rules hold there too.
 *
 * One case is not detected: the history of a query has the start of a workflow task that fails on another worker, while
 * this worker has an earlier state of the run in its cache. Such a query was sent before that task was scheduled.
 */

import {
  ApplicationFailure,
  type ActivateInput,
  type ConcludeActivationInput,
  type ConcludeActivationOutput,
  type Next,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow'
import { queryRefusedMessage } from '../../common/names.js'

export class QueryGuard implements WorkflowInternalsInterceptor {
  /** True when a workflow task has produced the state. */
  #isKnown = false
  /** Time and size of the last activation; undefined when it was a replay. */
  #live: TaskStart | undefined
  #hasCancelledActivity = false

  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const { jobs, isReplaying, timestamp, historySizeBytes } = input.activation
    const queries = jobs?.flatMap(({ queryWorkflow }) => queryWorkflow ?? []) ?? []
    if (queries.length === 0) {
      const live = isReplaying
        ? undefined
        : { time: `${String(timestamp?.seconds)}.${timestamp?.nanos}`, size: String(historySizeBytes) }
      this.#isKnown = live === undefined || (!this.#hasCancelledActivity && differs(live, this.#live))
      this.#live = live
    } else if (!this.#isKnown && queries.some(({ queryId }) => queryId === directQueryId)) {
      // Invariant 2.
      throw ApplicationFailure.create({ message: queryRefusedMessage, type: 'QueryRefused' }) // invariant 1
    }
    next(input)
  }

  concludeActivation(
    input: ConcludeActivationInput,
    next: Next<WorkflowInternalsInterceptor, 'concludeActivation'>,
  ): ConcludeActivationOutput {
    this.#hasCancelledActivity ||= input.commands.some(({ requestCancelActivity }) => requestCancelActivity != null)
    return next(input)
  }
}

/** The values that sdk-core sets when it applies the start of a workflow task. */
interface TaskStart {
  readonly time: string
  readonly size: string
}

function differs(start: TaskStart, before: TaskStart | undefined): boolean {
  return before !== undefined && start.time !== before.time && start.size !== before.size
}

/** The id that sdk-core gives a query on its own, without a workflow task (`LEGACY_QUERY_ID`). */
const directQueryId = 'legacy_query'
