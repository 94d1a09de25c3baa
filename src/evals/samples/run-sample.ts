import type { PtcClient, RunTree } from '../../client/index.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { failpoint } from '../../common/failpoint.js'
import type { RunCounts } from '../../common/run/runs.js'
import { promptTokens } from '../../common/run/runs.js'
import { runChecks } from '../checks/run-checks.js'
import type { Verdict } from '../checks/verdict.js'
import type { EvalTask } from '../tasks/load-tasks.js'
import { answerWaits, type WatchWaits } from './answer-waits.js'
import { SampleCheckRuns } from './check-runs.js'
import { infrastructureDelay, isVerdict, mayHaveUnknownCost } from './classify-error.js'
import {
  hasModelReply,
  hasOpenUsage,
  hasVerified,
  observe,
  type ObservedRun,
  type SampleUsage,
} from './observed-run.js'
import type { SampleEnd } from './sample.js'
import { startTask, type TaskRun } from './task-run.js'

export interface RunSampleOptions {
  readonly client: PtcClient
  readonly watchWaits: WatchWaits
  readonly task: EvalTask
  readonly workflowId: string
  readonly agent: string | undefined
  readonly tools: readonly string[]
  /** The price of the model is known, so runs can have a budget of US dollars. */
  readonly hasPrice: boolean
  /** A scripted model costs nothing. */
  readonly isFree: boolean
  readonly judgeModel: string | undefined
  /** A process that was interrupted had started the sample. */
  readonly wasInterrupted: boolean
  /** A process that was interrupted had cancelled the run at its time limit. */
  readonly hadTimedOut: boolean
  /** Records that the run is about to be cancelled at its time limit. */
  readonly onTimeOut: () => void
  /** Interrupts the harness. The run continues. */
  readonly signal: AbortSignal
}

/** Why this process stopped to wait for a run. */
type Ending =
  | { readonly type: 'result'; readonly result: Awaited<ReturnType<TaskRun['result']>> }
  | { readonly type: 'error'; readonly error: PtcError }
  | {
      readonly type: 'timed_out'
      /** Why the run was slow, when that was not its model. */
      readonly delay?: string
    }
  /** The run waits for something that its task does not answer. */
  | { readonly type: 'unanswered'; readonly what: string }

/** The end of a sample, and what remains to do when the end is recorded. */
export interface RunSampleResult {
  readonly end: SampleEnd
  readonly close: () => Promise<void>
}

/**
 * Runs a task once, and evaluates its conditions. Each failure is an end, not an error.
 *
 * @throws the reason of the signal; PtcError TEMPORAL_UNREACHABLE, after which the eval can continue later
 */
export async function runSample(options: RunSampleOptions): Promise<RunSampleResult> {
  const { signal, isFree } = options
  const startedAt = Date.now()
  let run: TaskRun
  try {
    run = await raceWithSignal(signal, startTask(options))
  } catch (thrown) {
    signal.throwIfAborted()
    throwIfUnreachable(thrown)
    return { end: infrastructureEnd(toPtcError(thrown), undefined, isFree), close: async () => undefined }
  }
  failpoint('eval.started')
  const wasInterrupted = options.wasInterrupted || run.isAttached
  if (options.hadTimedOut) await cancel(run)
  const ending = await waitForEnd(run, options)
  failpoint('eval.ended')
  const milliseconds = wasInterrupted ? undefined : Date.now() - startedAt
  const end = await conclude(run, ending, options).catch((thrown: unknown) => {
    signal.throwIfAborted()
    throwIfUnreachable(thrown)
    // The run has begun, and what it has used is not known.
    return { ...infrastructureEnd(toPtcError(thrown), undefined, isFree), hasUnknownCost: !isFree }
  })
  return { end: { ...end, ...defined({ milliseconds }) }, close: () => run.close() }
}

async function waitForEnd(run: TaskRun, options: RunSampleOptions): Promise<Ending> {
  const { task, signal, onTimeOut } = options
  const done = new AbortController()
  const waiting = AbortSignal.any([signal, done.signal])
  const recoversUntil = Date.now() + (options.wasInterrupted ? recoveryMs : 0)
  // One reading decides: a later one may see another phase, and so give the run another verdict.
  let delay: string | undefined
  const onTimer = async (): Promise<void> => {
    delay = await run.handle.tree().then(delayOf, () => 'its history could not be read')
    if (done.signal.aborted) return
    // A run that was interrupted first waits until the server has missed its worker.
    if (delay !== undefined && Date.now() < recoversUntil) startTimer(task.limits.seconds * 1_000)
    else done.abort(timedOut)
  }
  let timer: NodeJS.Timeout | undefined
  const startTimer = (milliseconds: number): void => {
    timer = setTimeout(() => void onTimer(), milliseconds)
  }
  startTimer(task.limits.seconds * 1_000 + (options.wasInterrupted ? missedWorkerMs : 0))
  const unanswered = async (): Promise<Ending> => {
    const wait = await answerWaits(options, run.handle, task.answers, waiting)
    if (wait === undefined) return new Promise<never>(() => {})
    return { type: 'unanswered', what: wait.type === 'budget' ? 'a larger budget' : `${wait.type} of ${wait.tool}` }
  }
  const ended = async (): Promise<Ending> => {
    try {
      return { type: 'result', result: await run.result() }
    } catch (thrown) {
      return { type: 'error', error: toPtcError(thrown) }
    }
  }
  try {
    // A failure to answer is one of the infrastructure.
    const answering = unanswered().catch((thrown: unknown): Ending => ({ type: 'error', error: toPtcError(thrown) }))
    const ending = await raceWithSignal(waiting, Promise.race([ended(), answering]))
    return ending
  } catch (thrown) {
    signal.throwIfAborted()
    if (thrown !== timedOut) throw thrown
    // Recorded first: a cancelled run without the record counts as a failure of the infrastructure, as a delayed one does.
    if (delay === undefined) onTimeOut()
    failpoint('eval.timed_out')
    return { type: 'timed_out', ...defined({ delay }) }
  } finally {
    clearTimeout(timer)
    done.abort()
  }
}

/** Milliseconds after an interruption in which a run that its worker keeps waiting is not at its time limit. */
const recoveryMs = 180_000

/**
 * Milliseconds that a run does not work after an interruption, and that do not count against its time limit: the server
 * misses the heartbeat of a step in 10 seconds, and the host of its sandbox in another 30; then the sandbox is rebuilt.
 * The phase of the run does not show the first two.
 */
const missedWorkerMs = 60_000

/** Why a run is slow that its model does not slow down. */
function delayOf(tree: RunTree): string | undefined {
  return hasModelReply(tree) ? infrastructureDelay(tree) : 'its model had not replied'
}

const timedOut = new Error('the time limit of the task is over')

async function cancel(run: TaskRun): Promise<void> {
  await run.handle.cancel().catch(() => undefined)
}

async function conclude(run: TaskRun, ending: Ending, options: RunSampleOptions): Promise<SampleEnd> {
  const { task, isFree } = options
  if (ending.type === 'error') throwIfUnreachable(ending.error)
  // The tree is read before the cancellation, which would change its phase.
  const tree = await run.handle.tree({ full: true })
  // Also after an error: the run may still wait for an answer that its tool has refused.
  if (ending.type !== 'result') await cancel(run)
  const counts = ending.type === 'result' ? ending.result.counts : tree.totals
  const used = usageOf(counts, isFree)
  const result: Pick<ObservedRun, 'status' | 'answer' | 'output'> =
    ending.type === 'result' ? ending.result : { status: ending.type, answer: '' }
  const { status, answer, output } = result
  const observed = observe(tree, { status, answer, ...(output !== undefined && { output }) })
  const verified = hasVerified(observed, task.verifyWith)
  const isCutOff = ending.type !== 'result' && hasOpenUsage(tree)
  const base = { used, verified, judgeCostUsd: 0, hasUnknownCost: used.costUsd === null || isCutOff }
  const failedWith = (kind: string, reason: string): SampleEnd => ({ ...base, state: 'failed', kind, reason })
  const errorWith = (kind: string, reason: string): SampleEnd => ({ ...base, state: 'error', kind, reason })

  if (ending.type === 'error') {
    const { error } = ending
    const wasTimedOut = options.hadTimedOut && error.code === 'RUN_CANCELLED'
    if (!hasModelReply(tree) || (!isVerdict(error) && !wasTimedOut)) {
      const end = infrastructureEnd(error, used, isFree)
      return { ...base, ...end, hasUnknownCost: base.hasUnknownCost || end.hasUnknownCost }
    }
    return wasTimedOut ? failedWith('timed_out', timeLimitText(task)) : failedWith(error.code, error.message)
  }
  if (ending.type === 'timed_out') {
    const { delay } = ending
    const text = timeLimitText(task)
    return delay === undefined ? failedWith('timed_out', text) : errorWith('not_ready', `${text}: ${delay}`)
  }
  if (!hasModelReply(tree)) return errorWith('no_model_call', 'the run ended without a reply of the model')
  if (promptTokens(used.usage) + used.usage.outputTokens === 0)
    return { ...errorWith('usage_unknown', 'the provider reported no tokens'), hasUnknownCost: !isFree }
  const lost = observed.cells.find(({ status }) => status === 'lost' || status === 'diverged')
  if (ending.type === 'unanswered') return failedWith('unanswered', `the run waits for ${ending.what}`)
  if (ending.result.status !== 'answered') {
    if (lost !== undefined) return errorWith('SANDBOX_LOST', `the sandbox of cell ${lost.number} was lost`)
    return failedWith(status, `the run ended with ${status}`)
  }
  const checks = new SampleCheckRuns({ ...options, run: observed })
  const verdict = await runChecks(task, observed, checks)
  const judged = { ...base, judgeCostUsd: isFree ? 0 : checks.costUsd }
  if (verdict.type === 'failed' && lost !== undefined)
    return { ...judged, state: 'error', kind: 'SANDBOX_LOST', reason: `the sandbox of cell ${lost.number} was lost` }
  return { ...judged, ...endOf(verdict) }
}

function endOf(verdict: Verdict): Pick<SampleEnd, 'state' | 'kind' | 'reason'> {
  if (verdict.type === 'passed') return { state: 'passed' }
  const { reason } = verdict
  if (verdict.type === 'failed') return { state: 'failed', kind: 'check', reason }
  if (verdict.type === 'judge_failed') return { state: 'judge_failed', kind: 'judge', reason }
  return { state: 'error', kind: 'check_error', reason }
}

function usageOf({ turns, cells, toolCalls, usage, costUsd, subagents }: RunCounts, isFree: boolean): SampleUsage {
  return {
    turns: turns + (subagents?.turns ?? 0),
    cells: cells + (subagents?.cells ?? 0),
    toolCalls: toolCalls + (subagents?.toolCalls ?? 0),
    usage,
    costUsd: isFree ? 0 : costUsd,
  }
}

function infrastructureEnd(error: PtcError, used: SampleUsage | undefined, isFree: boolean): SampleEnd {
  const hasUnknownCost = !isFree && ((used !== undefined && used.costUsd === null) || mayHaveUnknownCost(error))
  const { code: kind, message: reason } = error
  return { state: 'error', kind, reason, judgeCostUsd: 0, hasUnknownCost, ...defined({ used }) }
}

function timeLimitText({ limits }: EvalTask): string {
  return `the run did not end in ${limits.seconds} seconds`
}

function throwIfUnreachable(thrown: unknown): void {
  if (PtcError.isInstance(thrown) && thrown.code === 'TEMPORAL_UNREACHABLE') throw thrown
}

function toPtcError(thrown: unknown): PtcError {
  return PtcError.isInstance(thrown) ? thrown : new PtcError('INTERNAL', messageOf(thrown), { cause: thrown })
}
