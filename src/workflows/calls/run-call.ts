import type { Caller, CallPosition, ToolCallInput } from '../../common/calls/calls.js'
import type { FollowUpInput } from '../../common/calls/call-activities.js'
import { deriveIdempotencyKey } from '../../common/calls/call-identity.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { JsonObject } from '../../common/json/json.js'
import { callActivityId, callWorkflowId } from '../../common/names.js'
import type { RunKind } from '../../common/run/runs.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import type { DescribedCall, FollowUpStep } from '../../common/session/steps.js'
import type { DataLabels } from '../../common/calls/data-flow.js'
import { toTemporalSummary } from '../../common/text/text.js'
import { type CallWait, showCall } from '../run/progress.js'
import type { Run } from '../run/run.js'
import { publishWait } from '../run/search-attributes.js'
import type { RunCalls } from './run-calls.js'

const compensatingKinds: readonly RunKind[] = ['agent', 'conversation', 'program']

export interface RequestedCall {
  readonly call: DescribedCall
  readonly caller: Caller
  readonly position: CallPosition
  /** The only tools that the caller may call. Undefined: all tools of the run. */
  readonly allowedTools?: ReadonlySet<string> | undefined
  /** Default: the tool of the run with the name. */
  readonly tool?: ToolConfig
  /** Lets the worker of the call execute the next step of the code. */
  readonly followUp?: FollowUp | undefined
}

export interface FollowUp {
  readonly input: FollowUpInput
  /** Adds the steps that the worker has executed after the call. */
  readonly record: (outcome: CallOutcome, steps: readonly FollowUpStep[]) => void
}

/** A call on its way through the stages of `pipeline.ts`. */
export class RunCall {
  readonly calls: RunCalls
  readonly tool: ToolConfig | undefined
  readonly caller: Caller
  readonly position: CallPosition
  /** The identity of the call, derived here and nowhere else. An approval with other arguments does not change it. */
  readonly idempotencyKey: string
  readonly allowedTools: ReadonlySet<string> | undefined
  followUp: FollowUp | undefined
  /** Called once, with the outcome, before the call gives up its slots. */
  onOutcome: ((outcome: CallOutcome) => void) | undefined
  /** Called when the run counts the call. */
  onCounted: () => void = () => undefined
  /** Labels of the result that the tool computed. Undefined: none. */
  computedLabels: readonly string[] | undefined
  /** Labels of the answer of a sub-agent. */
  inheritedLabels: DataLabels = {}
  #needsApproval = false
  #described: DescribedCall
  #outcome: CallOutcome | undefined
  #wait: CallWait | undefined
  #hide: (() => void) | undefined
  #freeSlot: (() => void) | undefined

  constructor(calls: RunCalls, { call, caller, position, allowedTools, followUp, tool }: RequestedCall) {
    this.calls = calls
    this.tool = tool ?? calls.run.tools.get(call.tool)
    this.caller = caller
    this.position = position
    this.idempotencyKey = deriveIdempotencyKey(calls.run.identity, position, call.digest)
    this.allowedTools = allowedTools
    this.followUp = followUp
    this.#described = call
  }

  get run(): Run {
    return this.calls.run
  }

  get described(): DescribedCall {
    return this.#described
  }

  /** What the call waits for; undefined before its start, while its activity runs, and after its end. */
  get wait(): CallWait | undefined {
    return this.#wait
  }

  /**
   * True when the call may have to be compensated. Named sessions and workflows of users compensate no calls, because
   * they have no result that says whether their work is finished. A run of one call has no earlier calls.
   */
  get isCompensable(): boolean {
    return this.tool?.compensates === true && compensatingKinds.includes(this.run.kind)
  }

  /** True when a rule of the configuration lets a person decide, whatever the tool says. */
  get needsApproval(): boolean {
    return this.#needsApproval
  }

  /** @param summary tells the person the reason */
  requireApproval(summary: string): void {
    this.#needsApproval = true
    this.#described = { ...this.#described, summary: toTemporalSummary(summary) }
  }

  get input(): ToolCallInput {
    const { caller, position, idempotencyKey } = this
    const { tool, arguments: args } = this.#described
    return { tool, caller, position, idempotencyKey, arguments: args }
  }

  /** Replaces the arguments by those of an approval, which are not parsed yet. The key of the call stays. */
  useArguments(args: JsonObject): void {
    const { isParsed: _, floats: __, ...call } = this.#described
    this.#described = { ...call, arguments: args }
  }

  /** Records the outcome, unless the call has one. A stage that holds a slot calls this before it frees the slot. */
  record(outcome: CallOutcome): CallOutcome {
    if (this.#outcome === undefined) {
      this.#outcome = outcome
      const { tool } = this.#described
      const { caller, computedLabels, inheritedLabels } = this
      const from = { tool, caller, turn: this.position.turn }
      this.calls.dataFlow.addOutcome(from, outcome, computedLabels, inheritedLabels)
      this.onOutcome?.(outcome)
    }
    return this.#outcome
  }

  /** Reports what the call waits for. Undefined: its activity is in progress. */
  report(wait: CallWait | undefined): void {
    const id = callActivityId(this.position)
    this.#change(wait, wait?.for === 'slot_of_run' ? undefined : showCall(this.run, id, this.#summary, wait))
  }

  end(): void {
    this.#change(undefined, undefined)
  }

  /** Executes a task in a slot of the run, which ends with the task, or when {@link freeSlot} is called. */
  inSlotOfRun<Result>(task: () => Promise<Result>): Promise<Result> {
    this.report({ for: 'slot_of_run' })
    return this.calls.slots.run((free) => {
      this.#freeSlot = free
      this.report(undefined)
      return task()
    })
  }

  /** Called when the call begins to wait for its result: it needs no slot of the run any more. */
  freeSlot(): void {
    this.#freeSlot?.()
  }

  #change(wait: CallWait | undefined, hide: (() => void) | undefined): void {
    const isStatus = [this.#wait, wait].some((each) => each?.for === 'approval' || each?.for === 'answer')
    this.#wait = wait
    if (wait && 'since' in wait) this.calls.toDecide.add(this)
    else this.calls.toDecide.delete(this)
    const hideBefore = this.#hide
    this.#hide = hide
    hideBefore?.()
    if (isStatus) publishWait(this.run)
  }

  /** For a call that starts a sub-agent, the summary has the id of the run. */
  get #summary(): string {
    const { summary, tool } = this.#described
    if (this.tool?.remote?.kind !== 'workflow' || this.tool.remote.agent === undefined) return summary
    return `${summary} (run ${callWorkflowId(tool, this.idempotencyKey)})`
  }
}

export type AdmittedCall = RunCall & { readonly tool: ToolConfig }

export type Next = (call: AdmittedCall) => Promise<CallOutcome>

/**
 * One stage of a call: does something before and after the rest of the pipeline, or returns the outcome in its place.
 *
 * @throws CancelledFailure when the run or the scope of the call is cancelled
 */
export type Stage = (call: AdmittedCall, next: Next) => Promise<CallOutcome>
