/*
 * Replies of the model of a run to the services of tools, such as the sampling of an MCP server.
 *
 * Owns: which calls may ask now, and what each service has used in this run.
 * Boundary: the activity of a call asks by update `ptc.sample`, and waits for its result. `asking-call.ts` has the
 * questions to people: a person may take days, so their call is given up and made again. A reply takes seconds, so the
 * call goes on, and what its server has done before is not done twice.
 *
 * Invariants:
 * 1. Only a call in progress may ask, and only if the recorded `ToolConfig` of its tool says so. Its requests end with it.
 * 2. A reply is recorded before its service gets it. A later attempt of the call that makes the same request gets the
 *    recorded reply, also when the call is made again after a question to people.
 * 3. A request that is refused costs no tokens. A reply counts for the service, and for the budget of the run.
 */

import { type ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow'
import type { CallPosition } from '../../common/calls/calls.js'
import type { SampleUpdateInput, SampleUpdateResult } from '../../common/calls/sampling.js'
import type { SamplingLimits, ToolConfig } from '../../common/calls/tool-config.js'
import { defined } from '../../common/defined.js'
import { refOf } from '../../common/json/external-value.js'
import { requesterOf } from '../../common/run/requester.js'
import { promptTokens } from '../../common/run/runs.js'
import { pluralize } from '../../common/text/text.js'
import type { Run } from '../run/run.js'
import { failureOf, rejection } from '../temporal/failures.js'
import { sampleModel } from '../temporal/model-activities.js'

export interface SamplingState {
  /** What each service has used, by its name. */
  readonly used: Readonly<Record<string, SamplingLimits>>
  /** The replies of calls that have not ended, by their idempotency keys and the ids of the requests. Absent: none. */
  readonly replies?: Readonly<Record<string, Replies>>
}

type Replies = Readonly<Record<string, SampleUpdateResult>>

/** What is needed of a call in progress. */
interface AskingCall {
  readonly idempotencyKey: string
  readonly tool: ToolConfig
  readonly position: CallPosition
}

interface OpenCall {
  readonly call: AskingCall
  /** Has the requests of the call. */
  readonly scope: CancellationScope
}

export class Sampling {
  readonly #run: Run
  readonly #used: Map<string, SamplingLimits>
  readonly #replies: Map<string, Replies>
  /** Tokens of requests in progress, by the name of the service. */
  readonly #reserved = new Map<string, number>()
  /** By the idempotency keys of the calls. */
  readonly #open = new Map<string, OpenCall>()

  constructor(run: Run, { used = {}, replies = {} }: Partial<SamplingState> = {}) {
    this.#run = run
    this.#used = new Map(Object.entries(used))
    this.#replies = new Map(Object.entries(replies))
  }

  get state(): SamplingState | undefined {
    if (this.#used.size === 0) return undefined
    const replies = this.#replies.size > 0 && { replies: Object.fromEntries(this.#replies) }
    return { used: Object.fromEntries(this.#used), ...replies }
  }

  /** Executes a call of a tool with `samples`. Its service may ask until the call has ended. */
  async during<Result>(call: AskingCall, execute: () => Promise<Result>): Promise<Result> {
    const scope = new CancellationScope()
    this.#open.set(call.idempotencyKey, { call, scope })
    try {
      return await execute()
    } finally {
      this.#open.delete(call.idempotencyKey)
      scope.cancel()
    }
  }

  /** Called when a call has ended. */
  forget(idempotencyKey: string): void {
    this.#replies.delete(idempotencyKey)
  }

  has({ idempotencyKey }: SampleUpdateInput): boolean {
    return this.#open.has(idempotencyKey)
  }

  /** @throws ApplicationFailure that says why the request is refused */
  validate(input: SampleUpdateInput): void {
    if (!this.#replyTo(input)) this.#admit(input)
  }

  /** @throws ApplicationFailure when the request is refused, the model fails, or the call has ended */
  async sample(input: SampleUpdateInput): Promise<SampleUpdateResult> {
    const known = this.#replyTo(input)
    if (known) return known
    // Another request may have been admitted since the check.
    const { call, scope, from, used, maxTokens } = this.#admit(input)
    const { config } = this.#run
    const { provider, name, contextWindow, temperature } = config.model
    const reserved = input.promptTokens + maxTokens
    this.#used.set(from, { ...used, requests: used.requests + 1 })
    this.#reserve(from, reserved)
    const asked = {
      tool: call.tool.name,
      position: call.position,
      from,
      request: input.request,
      model: { provider, name, maxTokens, ...defined({ contextWindow, temperature }) },
      ...defined({ requester: requesterOf(config.context) }),
    }
    try {
      const reply = await scope.run(() => sampleModel(asked, config.timeouts))
      const { text, model, stopReason, usage } = reply
      this.#run.countReply(reply)
      this.#run.addStoredBytes(refOf(text)?.bytes ?? 0)
      const { requests, tokens } = this.#usedBy(from)
      this.#used.set(from, { requests, tokens: tokens + promptTokens(usage) + usage.outputTokens })
      const result = { text, model, stopReason }
      this.#replies.set(input.idempotencyKey, { ...this.#replies.get(input.idempotencyKey), [input.id]: result })
      return result
    } catch (thrown) {
      if (isCancellation(thrown)) throw noCall()
      // The text of a provider is not for services of others.
      throw refusal(`the model failed: ${failureOf(thrown).code}`)
    } finally {
      this.#reserve(from, -reserved)
    }
  }

  #replyTo({ idempotencyKey, id }: SampleUpdateInput): SampleUpdateResult | undefined {
    const replies = this.#replies.get(idempotencyKey) ?? {}
    return Object.hasOwn(replies, id) ? replies[id] : undefined
  }

  #admit({ idempotencyKey, promptTokens: prompt, maxTokens }: SampleUpdateInput) {
    const open = this.#open.get(idempotencyKey)
    const { samples } = open?.call.tool ?? {}
    if (!open || !samples) throw noCall() // invariant 1
    const { budget, config, hasBudget, isStorageExhausted } = this.#run
    const { from, requests, tokens } = samples
    const used = this.#usedBy(from)
    if (used.requests >= requests) throw refusal(`a run answers at most ${pluralize(requests, 'request')} of ${from}`)
    const spent = hasBudget ? budget.spentInTurn : undefined
    if (spent !== undefined) throw refusal(budget.describe(spent))
    if (isStorageExhausted) throw refusal(`the run has used up the ${config.limits.storedBytes} bytes it may store`)
    const left = tokens - used.tokens - (this.#reserved.get(from) ?? 0) - prompt
    if (left < 1) throw refusal(`the requests of ${from} may have ${pluralize(tokens, 'token')} in a run`)
    return { ...open, from, used, maxTokens: Math.min(maxTokens, config.model.maxTokens, left) }
  }

  #usedBy(from: string): SamplingLimits {
    return this.#used.get(from) ?? { requests: 0, tokens: 0 }
  }

  #reserve(from: string, tokens: number): void {
    this.#reserved.set(from, (this.#reserved.get(from) ?? 0) + tokens)
  }
}

export function noCall(): ApplicationFailure {
  return rejection('CALL_NOT_FOUND', 'no call is in progress that may ask a model')
}

function refusal(message: string): ApplicationFailure {
  return rejection('TOOL_NOT_ALLOWED', message)
}
