import {
  ApplicationFailure,
  type ActivateInput,
  type ConcludeActivationInput,
  type ConcludeActivationOutput,
  type Next,
  type WorkflowInterceptors,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow'
import { queryRefusedMessage } from '../../common/names.js'

/**
 * Refuses a query when the state of the run may be one that no workflow task has made. The build puts this interceptor
 * into the workflow bundle. `docs/adr/0001-refuse-queries-between-workflow-tasks.md` has the alternatives and the
 * figures.
 *
 * The defect, in sdk-core 1.24 (`history_update.rs`, `workflow_machines.rs`): the server sends a query to the normal
 * task queue when the worker that has the run in its cache does not take it. Such a query brings the whole history,
 * with the events after the last completed workflow task. sdk-core applies those events too, although no workflow task
 * has started for them, at the time and the size of the last one. It keeps the commands that the workflow then makes,
 * and sends them with the next workflow task. A replay applies the same events in that later task, at another time and
 * together with other events, and makes other commands. So the run can't go on once it leaves the cache.
 *
 * The remedy: when the activation for a query on its own (`directQueryId`) fails, sdk-core fails only the query, and
 * removes the run from its cache with all commands that were not sent. No workflow task ever fails here, and no
 * replay.
 *
 * The guard answers a query when one of two rules says that the state is that of a workflow task:
 *
 * 1. The last activation was a replay (`isReplaying`). sdk-core replays up to the last completed workflow task, and
 *    applies any event after it with `isReplaying` false.
 * 2. The last two activations were live and differ in time and in size. sdk-core sets both when it applies the start
 *    of a workflow task. The server has a larger size for each task. Events without the start of a task leave both as
 *    they are.
 *
 * Else the guard refuses. The worker then has no state of the run, and rule 1 lets it answer the next query, unless
 * new events have come meanwhile. So a doubt costs a second query and a replay. It occurs:
 *
 * - at the first live activation of a run on a worker (a new run, a takeover, an eviction): there is none to compare
 *   with;
 * - on a server that does not report the size of histories (before 1.20, the time-skipping test server): it is always
 *   0;
 * - after two activations in one workflow task, and after a rejected update, whose workflow task the server takes
 *   back: the time or the size of the next activation is the same;
 * - once the run has cancelled an activity: the end of that activity makes a workflow task without an activation. The
 *   guard does not see that task, and could take its time and size for those of a later one;
 * - always, for a run that was terminated with events after its last workflow task.
 *
 * A reset or a continue-as-new makes another run, with a guard of its own. A worker without a cache does not have the
 * defect; the rules hold there too.
 *
 * The guard can't see it when a query's history has the start of a workflow task that fails on another worker, while
 * this worker has an earlier state of the run in its cache. The query must have waited since before that task was
 * scheduled.
 */
class QueryGuard implements WorkflowInternalsInterceptor {
  #isKnown = false
  /** Of the last activation, if it was live. */
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
      throw ApplicationFailure.create({ message: queryRefusedMessage, type: 'QueryRefused' })
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

/** What sdk-core sets when it applies the start of a workflow task. */
interface TaskStart {
  readonly time: string
  readonly size: string
}

function differs(start: TaskStart, before: TaskStart | undefined): boolean {
  return before !== undefined && start.time !== before.time && start.size !== before.size
}

/** sdk-core's id of a query that does not come with a workflow task (`LEGACY_QUERY_ID`). */
const directQueryId = 'legacy_query'

export const interceptors = (): WorkflowInterceptors => ({ internals: [new QueryGuard()] })
