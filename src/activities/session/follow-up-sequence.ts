import { setMaxListeners } from 'node:events'
import { log } from '@temporalio/activity'
import { raceWithSignal } from '../../common/async/abort.js'
import type { FollowedCall } from '../../common/calls/call-activities.js'
import { deriveIdempotencyKey } from '../../common/calls/call-identity.js'
import { defined } from '../../common/defined.js'
import { isExternal, refOf } from '../../common/json/external-value.js'
import { failpoint } from '../../common/failpoint.js'
import type { Limits } from '../../common/run/limits.js'
import { type CallOutcome, outcomeOfFailure, outcomeUnknown } from '../../common/calls/outcomes.js'
import { messageOf, PtcError } from '../../common/errors.js'
import type {
  DeliveredResult,
  DescribedCall,
  DescribedStepResult,
  ExecuteStepInput,
  FollowUpStep,
  LocalCallAllowance,
  Step,
  StepActivityResult,
  StepTimes,
} from '../../common/session/steps.js'
import { requesterOf } from '../../common/run/requester.js'
import { utf8Length } from '../../common/text/text.js'
import type { SessionHost } from '../../sandbox/session/session-host.js'
import type { Credentials } from '../../tools/credentials/credentials.js'
import { runTool } from '../../tools/calls/run-tool.js'
import type { Tool } from '../../tools/tool.js'
import type { ActivityScope, ActivityParts } from '../run-activity.js'
import { findRunTools } from '../../tools/sources/tool-set.js'
import type { EventSinks } from '../observe.js'
import { measureCall, observeCall } from '../tool-call/observe-call.js'
import { closeIfEnded } from './close-ended.js'
import { type DescribeOptions, describeStepResult } from './describe-step-result.js'
import { observeStep } from './observe-step.js'

/** Maximum bytes of JSON of all follow-up steps of an activity, so that its result stays under Temporal's limits. */
const maxFollowUpBytes = 200_000

/** Maximum bytes of JSON of the result so far before a call with an effect. Each such call sends them all. */
const maxStoredBytes = 32_000

/** Maximum number of concurrent calls of local tools. */
const maxConcurrentCalls = 100

/**
 * Attempt number of a follow-up step, and of a first step in the activity that opens its session. Attempts on the
 * host's task queue are newer, because their numbers begin with 1.
 */
export const followUpAttempt = 0

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
  /** The result of the activity with these follow-up steps. */
  readonly resultWith: (steps: readonly FollowUpStep[]) => StepActivityResult | FollowedCall
}

/** The common parts of all steps of a session. */
export interface SessionRequest extends Pick<ExecuteStepInput, 'session' | 'tools' | 'limits' | 'isLastCell'> {
  readonly allowance: LocalCallAllowance
}

export type FollowUpScope = Pick<
  ActivityScope,
  'signal' | 'workflowId' | 'runId' | 'elapsedMs' | 'storeResult' | 'remainingMs'
>

/** The follow-up steps of one activity. */
export class FollowUpSequence {
  readonly #executor: FollowUpExecutor
  readonly #request: SessionRequest
  readonly #scope: FollowUpScope
  readonly #scheduledAt: number
  readonly #recorded: number
  readonly #signal: AbortSignal
  readonly #resultWith: FollowUpStart['resultWith']
  /** The steps so far. */
  readonly #steps: FollowUpStep[] = []
  /** Settles when the server has the latest steps that it was given. */
  #stored: Promise<boolean> = Promise.resolve(true)
  /** Number of the next step. */
  #step: number
  #resultAt = 0
  #outputLimit: number
  #calls = 0
  /** Bytes of JSON of the steps so far. */
  #bytes = 0
  /** Bytes of JSON of the result of the activity without the steps. Undefined: not needed yet. */
  #bytesBefore: number | undefined

  /** @param signal aborted when the activity is cancelled, or takes too long */
  constructor(
    executor: FollowUpExecutor,
    request: SessionRequest,
    { step, recorded, now, outputLimit, resultWith }: FollowUpStart,
    scope: FollowUpScope,
    signal: AbortSignal,
  ) {
    this.#executor = executor
    this.#request = request
    this.#scope = scope
    this.#signal = signal
    // Each local call adds a listener.
    setMaxListeners(0, signal, scope.signal)
    this.#scheduledAt = now
    this.#recorded = recorded
    this.#step = step
    this.#outputLimit = outputLimit
    this.#resultWith = resultWith
  }

  /**
   * Delivers results, makes the local calls that follow, delivers their results, and so on. Never rejects.
   *
   * @param first results; or the result of the step before, whose calls are made first
   */
  async execute(first: readonly DeliveredResult[] | DescribedStepResult): Promise<readonly FollowUpStep[]> {
    let results = 'type' in first ? await this.#callLocally(first) : first
    while (results !== undefined) {
      const step = await this.#executeStep(results)
      this.#add(step)
      results = step.result && (await this.#callLocally(step.result))
    }
    return this.#steps
  }

  #add(step: FollowUpStep): void {
    this.#steps.push(step)
    this.#bytes += utf8Length(JSON.stringify(step))
  }

  /** Returns the results of the calls of a step; undefined when the workflow must make calls, or has other work. */
  async #callLocally(result: DescribedStepResult): Promise<readonly DeliveredResult[] | undefined> {
    this.#resultAt = this.#scope.elapsedMs()
    if (result.type !== 'suspended' || result.wakeInMs !== null || this.#isOver()) return undefined
    const { calls } = result
    this.#calls += calls.length
    const isAllowed = calls.length > 0 && calls.length <= maxConcurrentCalls
    if (!isAllowed || this.#calls > this.#request.allowance.maxCalls) return undefined
    const tools = calls.map((call) => this.#localTool(call))
    const local = calls.flatMap((call, index) => (tools[index] ? [{ call, tool: tools[index] }] : []))
    if (local.length < calls.length || !(await this.#begin(local))) return undefined
    const called = await Promise.all(local.map((each) => this.#callTool(each)))
    const results = called.filter((each) => each !== undefined)
    const isComplete = results.length === calls.length && !results.some(({ outcome }) => isReference(outcome))
    if (isComplete) {
      if (local.some(isOnce)) this.#storeAfter([this.#stepWithoutResult(results)])
      return results
    }
    // The workflow makes the other calls as activities, which are retried and report errors, and loads large results.
    if (results.length > 0) this.#add(this.#stepWithoutResult(results))
    return undefined
  }

  /**
   * Prepares calls with effects: the server has all results on which they depend, and that they may happen now
   * (invariant 1 of `follow-ups.ts`). Returns false when they must not begin here.
   */
  async #begin(calls: readonly LocalCall[]): Promise<boolean> {
    const effects = calls.filter(({ tool }) => tool.effect !== 'read')
    if (effects.length === 0) return true
    const longest = Math.max(...effects.map(({ tool }) => tool.timeoutMs))
    this.#bytesBefore ??= utf8Length(JSON.stringify(this.#resultWith([])))
    const isLarge = this.#bytesBefore + this.#bytes > maxStoredBytes
    if (isLarge || longest > this.#scope.remainingMs()) return false
    const unknown = effects.filter(isOnce).map(({ call: { index }, tool }) => {
      return { index, outcome: outcomeUnknown(tool.name, 'the worker that ran it was lost') }
    })
    this.#storeAfter(unknown.length === 0 ? [] : [this.#stepWithoutResult(unknown)])
    failpoint('effects.begin')
    const isStored = await raceWithSignal(this.#signal, this.#stored).catch(() => false)
    failpoint('effects.stored')
    return isStored
  }

  /** Stores the steps so far and further ones, after what is being stored. */
  #storeAfter(more: readonly FollowUpStep[]): void {
    const steps = [...this.#steps, ...more]
    this.#stored = this.#stored.then((isStored) => isStored && this.#scope.storeResult(this.#resultWith(steps)))
  }

  /** The next step, of which only the results are known that it delivers. */
  #stepWithoutResult(results: readonly DeliveredResult[]): FollowUpStep {
    return { number: this.#step, ...this.#times(this.#scope.elapsedMs()), results }
  }

  #times(elapsed: number): Required<StepTimes> {
    return { now: Math.round(this.#scheduledAt + elapsed), waited: Math.round(elapsed - this.#resultAt) }
  }

  async #executeStep(results: readonly DeliveredResult[]): Promise<FollowUpStep> {
    const { host } = this.#executor
    const { session, isLastCell } = this.#request
    const number = this.#step
    this.#step += 1
    const elapsed = this.#scope.elapsedMs()
    const times = this.#times(elapsed)
    const step: Step = { number, ...times, recorded: this.#recorded, input: { type: 'results', results } }
    try {
      failpoint('step.begins')
      const execution = host.executeStepIfConnected(session, step, followUpAttempt)
      const executed = await raceWithSignal(this.#signal, execution)
      if (executed === undefined) return { number, ...times, results }
      const limit = Math.max(this.#outputLimit, minOutputCharacters)
      const observed = { session, step, localCalls: this.#request.allowance }
      const described = await observeStep(this.#executor, observed, this.#origin, {
        execute: () => Promise.resolve(executed),
        describe: () => describeStepResult(executed, this.#describeOptions, limit),
      })
      failpoint('step.ends')
      const result = isLastCell ? await closeIfEnded(host, session, described, this.#scope) : described
      this.#outputLimit -= outputLength(result)
      const tookMs = Math.round(this.#scope.elapsedMs() - elapsed)
      return { number, ...times, results, result, ...(tookMs < minTookMs ? {} : { tookMs }) }
    } catch {
      return { number, ...times, results } // the workflow requests the step, and gets the result or the error
    }
  }

  /** Returns the tool of a call that this worker may make. */
  #localTool({ tool, refused, arguments: args }: DescribedCall): Tool | undefined {
    const { registry, registryMatchesRun } = findRunTools(this.#executor.registry, this.#request.tools)
    const found = this.#executor.hasTools ? registry.get(tool) : undefined
    const isLocal = found?.execution === 'local' && found.allowedCallers.includes('code_execution')
    return isLocal && registryMatchesRun && refused === null && !isExternal(args) ? found : undefined
  }

  /** Returns undefined when the workflow must make the call, by an activity. */
  async #callTool({ call, tool }: LocalCall): Promise<DeliveredResult | undefined> {
    const { index } = call
    const attempt = { hasBegun: false }
    try {
      return { index, outcome: await this.#runTool(call, tool, attempt) }
    } catch (thrown) {
      if (tool.effect !== 'once' || !attempt.hasBegun) return undefined
      // Any other error is the reason why the call was stopped: the shutdown of the worker, for example.
      const outcome = PtcError.isInstance(thrown)
        ? outcomeOfFailure(tool, thrown.code, thrown.message)
        : outcomeUnknown(tool.name, messageOf(thrown))
      return { index, outcome }
    }
  }

  async #runTool(
    { arguments: args, index, digest, summary }: DescribedCall,
    { name: tool, effect }: Tool,
    attempt: { hasBegun: boolean },
  ): Promise<CallOutcome> {
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
    // An effect is not given up because it takes long. A read is made again.
    const signal = effect === 'read' ? this.#signal : this.#scope.signal
    const context = { signal, attempt: 1, log, heartbeat: () => undefined, ...ofRun }
    failpoint('tool.begins')
    const callLimits = { ...limits, argumentBytes: stepLimits.argumentBytes, resultBytes }
    const observed = { ...call, summary, isDeferred: false }
    const value = await observeCall(this.#executor, observed, { ...this.#origin, signal }, () =>
      measureCall(call, context, () => {
        attempt.hasBegun = true
        return runTool(registry, call, callLimits, context)
      }),
    )
    failpoint('tool.ran')
    if (effect === 'read' && !values.isInline(value)) throw new Error('too large for a follow-up step')
    return { status: 'ok', value: await values.externalize(value, this.#scope.signal) }
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

interface LocalCall {
  readonly call: DescribedCall
  readonly tool: Tool
}

function isOnce({ tool }: LocalCall): boolean {
  return tool.effect === 'once'
}

function isReference(outcome: CallOutcome): boolean {
  return outcome.status === 'ok' && refOf(outcome.value) !== undefined
}

/** Returns the number of characters in the output of a step. */
export function outputLength(result: DescribedStepResult): number {
  if (!('output' in result)) return 0
  const { output, outputLength: length } = result
  return length ?? (typeof output === 'string' ? output.length : (refOf(output)?.bytes ?? 0))
}
