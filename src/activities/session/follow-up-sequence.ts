import { setMaxListeners } from 'node:events'
import { log } from '@temporalio/activity'
import { raceWithSignal } from '../../common/async/abort.js'
import { deriveIdempotencyKey } from '../../common/calls/call-identity.js'
import { defined } from '../../common/defined.js'
import { isExternal, refOf } from '../../common/json/external-value.js'
import { failpoint } from '../../common/failpoint.js'
import type { Limits } from '../../common/run/limits.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type {
  DeliveredResult,
  DescribedCall,
  DescribedStepResult,
  ExecuteStepInput,
  FollowUpStep,
  LocalCallAllowance,
  Step,
} from '../../common/session/steps.js'
import { requesterOf } from '../../common/run/requester.js'
import { utf8Length } from '../../common/text/text.js'
import type { SessionHost } from '../../sandbox/session/session-host.js'
import type { Credentials } from '../../tools/credentials/credentials.js'
import { runTool } from '../../tools/calls/run-tool.js'
import type { ActivityScope, ActivityParts } from '../run-activity.js'
import { findRunTools } from '../../tools/sources/tool-set.js'
import type { EventSinks } from '../observe.js'
import { measureCall, observeCall } from '../tool-call/observe-call.js'
import { type DescribeOptions, describeStepResult } from './describe-step-result.js'
import { observeStep } from './observe-step.js'

/** Maximum bytes of JSON of all follow-up steps of an activity, so that its result stays under Temporal's limits. */
const maxFollowUpBytes = 200_000

/** Maximum number of concurrent calls of local tools. */
const maxConcurrentCalls = 100

/**
 * Attempt number of a follow-up step. Attempts on the host's task queue are newer, because their numbers begin with 1.
 */
const followUpAttempt = 0

/** Shorter durations are not recorded. */
const minTookMs = 10

/** Each step may return at least this number of characters, as in the workflow. */
const minOutputCharacters = 1_000

export interface FollowUpExecutor extends ActivityParts, EventSinks {
  readonly host: SessionHost
  readonly namespace: string
  readonly limits: Limits
  readonly credentials?: Credentials | undefined
  /** True when this worker runs tools. */
  readonly hasTools: boolean
}

/** The start of a sequence. */
interface FollowUpStart {
  /** Number of the first step. */
  readonly step: number
  /** Number of the last step with a result in the history. */
  readonly recorded: number
  /** Milliseconds from the start of the session to the scheduling of the activity. */
  readonly now: number
  readonly outputLimit: number
}

/** The common parts of all steps of a session. */
export interface SessionRequest extends Pick<ExecuteStepInput, 'session' | 'tools' | 'limits'> {
  readonly allowance: LocalCallAllowance
}

export type FollowUpScope = Pick<ActivityScope, 'signal' | 'workflowId' | 'runId' | 'elapsedMs'>

/** The follow-up steps of one activity. */
export class FollowUpSequence {
  readonly #executor: FollowUpExecutor
  readonly #request: SessionRequest
  readonly #scope: FollowUpScope
  readonly #scheduledAt: number
  readonly #recorded: number
  readonly #signal: AbortSignal
  /** Number of the next step. */
  #step: number
  #resultAt = 0
  #outputLimit: number
  #calls = 0
  #bytes = 0

  /** @param signal aborted when the activity is cancelled, or takes too long */
  constructor(
    executor: FollowUpExecutor,
    request: SessionRequest,
    { step, recorded, now, outputLimit }: FollowUpStart,
    scope: FollowUpScope,
    signal: AbortSignal,
  ) {
    this.#executor = executor
    this.#request = request
    this.#scope = scope
    this.#signal = signal
    setMaxListeners(0, signal) // each local call adds a listener
    this.#scheduledAt = now
    this.#recorded = recorded
    this.#step = step
    this.#outputLimit = outputLimit
  }

  /** Delivers results, makes the local calls that follow, delivers their results, and so on. Never rejects. */
  async execute(first: readonly DeliveredResult[] | undefined): Promise<readonly FollowUpStep[]> {
    const steps: FollowUpStep[] = []
    for (let results = first; results !== undefined;) {
      const step = await this.#executeStep(results)
      steps.push(step)
      this.#bytes += utf8Length(JSON.stringify(step))
      results = step.result && (await this.callLocally(step.result))
    }
    return steps
  }

  /** Returns the results of the calls of a step; undefined when the workflow must make the calls, or has other work. */
  async callLocally(result: DescribedStepResult): Promise<readonly DeliveredResult[] | undefined> {
    this.#resultAt = this.#scope.elapsedMs()
    if (result.type !== 'suspended' || result.wakeInMs !== null || this.#isOver()) return undefined
    const { calls } = result
    this.#calls += calls.length
    const isAllowed = calls.length > 0 && calls.length <= maxConcurrentCalls
    if (!isAllowed || this.#calls > this.#request.allowance.maxCalls || !calls.every((call) => this.#isLocal(call)))
      return undefined
    try {
      return await Promise.all(calls.map(async (call) => ({ index: call.index, outcome: await this.#callTool(call) })))
    } catch {
      return undefined // the workflow makes the calls as activities, which are retried and report errors
    }
  }

  async #executeStep(results: readonly DeliveredResult[]): Promise<FollowUpStep> {
    const { host } = this.#executor
    const { session } = this.#request
    const number = this.#step
    this.#step += 1
    const elapsed = this.#scope.elapsedMs()
    const times = { now: Math.round(this.#scheduledAt + elapsed), waited: Math.round(elapsed - this.#resultAt) }
    const step: Step = { number, ...times, recorded: this.#recorded, input: { type: 'results', results } }
    try {
      failpoint('step.begins')
      const execution = host.executeStepIfConnected(session, step, followUpAttempt)
      const executed = await raceWithSignal(this.#signal, execution)
      if (executed === undefined) return { number, ...times, results }
      const limit = Math.max(this.#outputLimit, minOutputCharacters)
      const observed = { session, step, localCalls: this.#request.allowance }
      const result = await observeStep(this.#executor, observed, this.#origin, {
        execute: () => Promise.resolve(executed),
        describe: () => describeStepResult(executed, this.#describeOptions, limit),
      })
      failpoint('step.ends')
      this.#outputLimit -= outputLength(result)
      const tookMs = Math.round(this.#scope.elapsedMs() - elapsed)
      return { number, ...times, results, result, ...(tookMs < minTookMs ? {} : { tookMs }) }
    } catch {
      return { number, ...times, results } // the workflow requests the step, and gets the result or the error
    }
  }

  #isLocal({ tool, refused, arguments: args }: DescribedCall): boolean {
    const { registry, registryMatchesRun } = findRunTools(this.#executor.registry, this.#request.tools)
    const found = this.#executor.hasTools ? registry.get(tool) : undefined
    return (
      found?.execution === 'local' &&
      found.allowedCallers.includes('code_execution') &&
      registryMatchesRun &&
      refused === null &&
      !isExternal(args)
    )
  }

  /** @throws any error after which the workflow must make the call by an activity */
  async #callTool({ tool, arguments: args, index, digest, summary }: DescribedCall): Promise<CallOutcome> {
    const { registry, values, namespace, limits, credentials } = this.#executor
    const { allowance, limits: stepLimits } = this.#request
    const { workflowId, runId } = this.#scope
    const { turn, cell, toolUseId, firstExecutionRunId, resultBytes, agent, context: runContext = {} } = allowance
    const position = { turn, cell, index, ...defined({ toolUseId }) }
    const idempotencyKey = deriveIdempotencyKey({ namespace, workflowId, firstExecutionRunId }, position, digest)
    const call = { tool, caller: 'code_execution', position, idempotencyKey, arguments: args } as const
    // The call is not monitored: the event-loop watchdog would confuse the tool with the tool of the activity.
    const run = { namespace, workflowId, runId, agent }
    const ofRun = { run, context: runContext, credentials }
    const context = { signal: this.#signal, attempt: 1, log, heartbeat: () => undefined, ...ofRun }
    failpoint('tool.begins')
    const callLimits = { ...limits, argumentBytes: stepLimits.argumentBytes, resultBytes }
    const observed = { ...call, summary, isDeferred: false }
    const value = await observeCall(this.#executor, observed, this.#origin, () =>
      measureCall(call, context, () => runTool(registry, call, callLimits, context)),
    )
    failpoint('tool.ran')
    if (!values.isInline(value)) throw new Error('too large for a follow-up step')
    return { status: 'ok', value }
  }

  get #origin() {
    const requester = requesterOf(this.#request.allowance.context)
    return { ...this.#scope, signal: this.#signal, attempt: followUpAttempt, requester }
  }

  get #describeOptions(): DescribeOptions {
    const { registry, values } = this.#executor
    const { tools, limits } = this.#request
    return { ...findRunTools(registry, tools), values, limits, signal: this.#scope.signal }
  }

  #isOver(): boolean {
    return this.#signal.aborted || this.#bytes > maxFollowUpBytes
  }
}

/** Returns the number of characters in the output of a step. */
export function outputLength(result: DescribedStepResult): number {
  if (!('output' in result)) return 0
  const { output, outputLength: length } = result
  return length ?? (typeof output === 'string' ? output.length : (refOf(output)?.bytes ?? 0))
}
