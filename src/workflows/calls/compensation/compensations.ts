/*
 * Compensations: the calls of a run that have an inverse, and the execution of these inverses when the work of the run
 * is not finished.
 *
 * Owns: the calls in the order of their completion, from the start of a call until it is compensated or its work is
 * finished, and the report. `compensate-unfinished.ts` decides which endings of a run count as unfinished work.
 * Boundary: arguments and results of the calls are not interpreted.
 *
 * Invariants:
 * 1. A call is recorded once its activity was scheduled, unless it is certain that the call had no effect.
 * 2. Compensations run one after the other, the last completed call first. Each call is compensated once: it leaves the
 *    list before its compensation is scheduled, and workflow code is not repeated.
 * 3. Compensations are not cancelled: only the termination of the run ends them.
 * 4. A compensation that fails for good does not end the others. The report has its call.
 * 5. The state is bounded: the number of calls by `limits.compensations`, their bytes by moving them to the value store
 *    before the run continues as new.
 */

import {
  ActivityFailure,
  CancellationScope,
  condition,
  scheduleActivity,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow'
import { callerIdentity, lostWorkerRetries } from '../../../common/calls/calls.js'
import {
  type CompensableCall,
  type CompensateInput,
  compensationAttempts,
  type CompensationFailure,
  type CompensationReport,
  type CompensationsState,
  maxReportedFailures,
  noCompensations,
  type StoredCalls,
} from '../../../common/calls/compensation.js'
import {
  callActivityId,
  compensationActivity,
  compensationActivityId,
  memoKeys,
  toolQueue,
} from '../../../common/names.js'
import { decideFlow } from '../../../common/calls/data-flow.js'
import type { Externalizable } from '../../../common/json/external-value.js'
import { toOneLine, toTemporalSummary, utf8Length } from '../../../common/text/text.js'
import { showCall, showProgress } from '../../run/progress.js'
import type { Run } from '../../run/run.js'
import { loadCalls, storeCalls } from '../../temporal/activities.js'
import { hasFailedWith } from '../../temporal/failures.js'
import { Semaphore } from '../../temporal/semaphore.js'
import { attemptsWithoutTool, priorityOf, retryPolicyOf, timeoutMarginMs } from '../call-options.js'

/**
 * Maximum bytes of calls that continue-as-new carries over. Above this limit, the calls are moved to the value store.
 */
const inlineLimitBytes = 64 * 1024

/** Bytes of one stored value with calls: a compensation loads one at a time. */
const storedValueBytes = 128 * 1024

/** A call in progress. Exactly one of these is called when it ends. */
interface CallInProgress {
  succeed(result: Externalizable): void
  fail(thrown: unknown): void
}

export class Compensations {
  #stored: StoredCalls[]
  #latest: CompensableCall[]
  #report: CompensationReport
  #open = 0
  readonly #queue = new Semaphore(1)
  readonly #run: Run

  constructor(run: Run, state?: CompensationsState) {
    this.#run = run
    this.#stored = [...(state?.stored ?? [])]
    this.#latest = [...(state?.latest ?? [])]
    this.#report = state?.report ?? noCompensations
  }

  /** Read after {@link store}. Is undefined when there was nothing to compensate. */
  get state(): CompensationsState | undefined {
    if (this.size === 0 && this.report === undefined) return undefined
    return { stored: this.#stored, latest: this.#latest, report: this.#report }
  }

  /** Number of calls that may have to be compensated, those in progress included. */
  get size(): number {
    return this.#recorded + this.#open
  }

  /** The compensations since the start of the run, or since {@link clear}. Undefined: there were none. */
  get report(): CompensationReport | undefined {
    return this.#report.compensated + this.#report.failed === 0 ? undefined : this.#report
  }

  begin(call: CompensableCall): CallInProgress {
    this.#open += 1
    return {
      succeed: (result) => {
        this.#open -= 1
        this.#latest.push({ ...call, result })
      },
      fail: (thrown) => {
        this.#open -= 1
        if (mayHaveHappened(thrown)) this.#latest.push(call) // invariant 1
      },
    }
  }

  /** Called when the work is finished: its calls are not compensated any more. */
  clear(): void {
    this.#stored = []
    this.#latest = []
    this.#report = noCompensations
  }

  /** Moves many calls to the value store, before the run continues as new. Called when no call is in progress. */
  async store(): Promise<void> {
    if (bytesOf(this.#latest) <= inlineLimitBytes) return // invariant 5
    for (const calls of toBatches(this.#latest)) {
      const value = await storeCalls(calls, this.#run.config.timeouts)
      this.#run.addStoredBytes(bytesOf(calls))
      this.#stored.push({ value, calls: calls.length })
      this.#latest = this.#latest.slice(calls.length)
    }
  }

  /** Compensates all calls when those in progress have ended. Nothing is scheduled when there is none. */
  async compensateAll(): Promise<void> {
    if (this.#open > 0) await CancellationScope.nonCancellable(() => condition(() => this.#open === 0))
    if (this.size > 0) await this.compensateCompleted()
  }

  /** Compensates the calls that have ended, also when the run or the caller is cancelled. */
  compensateCompleted(): Promise<void> {
    return CancellationScope.nonCancellable(() => this.#queue.run(() => this.#compensate())) // invariant 3
  }

  get #recorded(): number {
    return this.#stored.reduce((sum, { calls }) => sum + calls, this.#latest.length)
  }

  async #compensate(): Promise<void> {
    const total = this.#recorded
    let done = 0
    while (this.#recorded > 0) {
      showProgress(this.#run, { type: 'compensating', done, total: Math.max(total, done + this.#recorded) })
      const call = this.#latest.pop() // invariant 2
      if (call) this.#add(await compensateCall(this.#run, call))
      else await this.#load()
      if (call) done += 1
    }
  }

  /** Loads the last stored calls. When their value no longer exists, they can't be compensated. */
  async #load(): Promise<void> {
    const last = this.#stored.pop()
    if (!last) return
    try {
      this.#latest = [...(await loadCalls(last.value, this.#run.config.timeouts))]
    } catch (thrown) {
      if (!(thrown instanceof ActivityFailure)) throw thrown
      this.#report = { ...this.#report, failed: this.#report.failed + last.calls - 1 }
      const message = `${last.calls} calls could not be loaded: ${thrown.cause?.message ?? thrown.message}`
      this.#add({ tool: '', call: '', idempotencyKey: '', message: toOneLine(message) })
    }
  }

  /** Whether a rule on data keeps texts of the tool from the answer: the report is part of what the run returns. */
  #isWithheld(tool: string): boolean {
    const { dataFlow } = this.#run.config
    if (!dataFlow) return false
    const { rules, labels, labelledByResult = [] } = dataFlow
    const named = labelledByResult.includes(tool) ? rules.flatMap((rule) => rule.labels) : []
    const own = [...(Object.hasOwn(labels, tool) ? (labels[tool] ?? []) : []), ...named]
    return decideFlow(rules, Object.fromEntries(own.map((label) => [label, tool])), 'answer').action !== 'allow'
  }

  #add(failure: CompensationFailure | undefined): void {
    const { compensated, failed, failures } = this.#report
    if (!failure) {
      this.#report = { ...this.#report, compensated: compensated + 1 }
      return
    }
    const shown = this.#isWithheld(failure.tool) ? { ...failure, message: withheldMessage } : failure
    this.#report = { compensated, failed: failed + 1, failures: [...failures, shown].slice(0, maxReportedFailures) }
    // The memo says so, because a failed or cancelled run has no result. The engine does not write to the memo of a
    // user's workflow.
    if (this.#run.kind !== 'embedded') upsertMemo({ [memoKeys.notCompensated]: describeFailures(this.#report) })
  }
}

const withheldMessage = '[withheld] a rule of the configuration keeps texts of this tool from the answer'

/** For lists of runs: `2 calls: book_hotel (turn-1.cell-1.call-2), …`. */
function describeFailures({ failed, failures }: CompensationReport): string {
  const names = failures.slice(0, 5).map(({ tool, call }) => (call === '' ? 'lost calls' : `${tool} (${call})`))
  return `${failed} ${failed === 1 ? 'call' : 'calls'}: ${names.join(', ')}${failed > names.length ? ', …' : ''}`
}

/** Returns false when the call was not scheduled, or when its failure says that it had no effect. */
function mayHaveHappened(thrown: unknown): boolean {
  if (!(thrown instanceof ActivityFailure)) return false
  return !hasFailedWith(thrown, 'TOOL_REFUSED', 'TOOL_INPUT_INVALID', 'TOOL_UNKNOWN', 'TOOL_NOT_ALLOWED')
}

function bytesOf(calls: readonly CompensableCall[]): number {
  return calls.reduce((sum, call) => sum + utf8Length(JSON.stringify(call)), 0)
}

function toBatches(calls: readonly CompensableCall[]): readonly (readonly CompensableCall[])[] {
  const batches: CompensableCall[][] = []
  let bytes = Infinity
  for (const call of calls) {
    const callBytes = bytesOf([call])
    if (bytes + callBytes > storedValueBytes) {
      batches.push([])
      bytes = 0
    }
    batches.at(-1)?.push(call)
    bytes += callBytes
  }
  return batches
}

/**
 * Compensates one call.
 *
 * @returns why the effect of the call is still there; undefined when it was compensated
 */
async function compensateCall(run: Run, call: CompensableCall): Promise<CompensationFailure | undefined> {
  const { tool: name, position, idempotencyKey } = call
  const summary = `compensate ${call.summary}`
  const closeCall = showCall(run, compensationActivityId(position), summary)
  try {
    await scheduleCompensation(run, call, toTemporalSummary(summary))
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof ActivityFailure)) throw thrown
    const message = toOneLine(thrown.cause?.message ?? thrown.message) // invariant 4
    return { tool: name, call: callActivityId(position), idempotencyKey, message }
  } finally {
    closeCall()
  }
}

async function scheduleCompensation(run: Run, call: CompensableCall, summary: string): Promise<void> {
  const tool = run.tools.get(call.tool)
  // The tools of a run do not change, so this does not happen.
  if (!tool) return
  const input: CompensateInput = { ...call, ...callerIdentity(run.config) }
  await scheduleActivity(compensationActivity(tool.name), [input], {
    taskQueue: toolQueue(workflowInfo().taskQueue, tool),
    activityId: compensationActivityId(call.position),
    summary,
    startToCloseTimeout: tool.timeoutMs + timeoutMarginMs,
    heartbeatTimeout: run.config.timeouts.heartbeatMs,
    ...priorityOf(run, tool),
    retry: retryPolicyOf(tool, compensationAttempts(tool.attempts) + lostWorkerRetries + attemptsWithoutTool),
  })
}
