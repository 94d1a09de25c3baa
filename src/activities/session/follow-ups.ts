import { capturedCharacters } from '../../common/run/limits.js'
import { withTimeLimit } from '../../common/async/abort.js'
import type { FollowUpInput, ToolActivityInput } from '../../common/calls/call-activities.js'
import { refOf } from '../../common/json/external-value.js'
import type { JsonValue } from '../../common/json/json.js'
import type { SessionRef } from '../../common/session/session.js'
import type { DescribedStepResult, ExecuteStepInput, FollowUpStep } from '../../common/session/steps.js'
import {
  FollowUpSequence,
  type FollowUpExecutor,
  type FollowUpScope,
  outputLength,
  type SessionRequest,
} from './follow-up-sequence.js'

/** Milliseconds after which an activity ends without the result of a follow-up step. The step itself continues. */
const maxFollowUpMs = 500

/** Maximum number of sessions with a remembered step. */
const maxRemembered = 10_000

/**
 * Follow-up steps: steps that a worker executes without asking the workflow, because it is connected to the sandbox and
 * has every result for which the program waits. So a call in a loop needs one activity instead of two, and calls of
 * local tools need none.
 *
 * Invariants:
 * 1. Only calls of local tools (`effect: 'read'`) are made here. All others wait for the workflow, which then has
 *    recorded the results on which they depend.
 * 2. A follow-up step never fails its activity. The workflow does the missing work by ordinary activities: it requests
 *    the step again and joins it, or gets the recorded result.
 * 3. An activity takes at most half a second longer (`maxFollowUpMs`).
 */
export class FollowUps {
  readonly #executor: FollowUpExecutor
  readonly #requests = new Map<string, SessionRequest>()

  constructor(executor: FollowUpExecutor) {
    this.#executor = executor
  }

  /** Executes the steps after a step. */
  async afterStep(
    { session, tools, limits, step, localCalls: allowance, outputLimit }: ExecuteStepInput,
    result: DescribedStepResult,
    scope: FollowUpScope,
  ): Promise<readonly FollowUpStep[]> {
    // Tools of the run's own source are never local.
    if (step === null || allowance === undefined || tools.source !== undefined) return []
    const { signatures: _, ...toolSet } = tools
    const request = { session, tools: toolSet, limits, allowance }
    this.#remember(request)
    const { number, now } = step
    // The history does not have the result of this step yet: if this attempt is lost, the step is requested again.
    const start = { step: number + 1, recorded: number - 1, now, outputLimit: outputLimit - outputLength(result) }
    return withTimeLimit(scope.signal, maxFollowUpMs, async (signal) => {
      const sequence = new FollowUpSequence(this.#executor, request, start, scope, signal)
      return sequence.execute(await sequence.callLocally(result))
    })
  }

  /** Executes the steps after a call with this result. */
  async afterCall(
    { followUp, position: { index, ...where } }: ToolActivityInput & { readonly followUp: FollowUpInput },
    value: JsonValue,
    scope: FollowUpScope,
  ): Promise<readonly FollowUpStep[]> {
    const known = this.#requests.get(keyOf(followUp.session))
    if (known === undefined || refOf(value) !== undefined) return []
    const { step, now, outputLimit = capturedCharacters, maxLocalCalls: maxCalls = 0 } = followUp
    const { toolUseId: _, ...allowance } = known.allowance
    const request = { ...known, allowance: { ...allowance, ...where, maxCalls } }
    const start = { step, recorded: step - 1, now, outputLimit }
    const [first, ...others] = await withTimeLimit(scope.signal, maxFollowUpMs, (signal) => {
      const sequence = new FollowUpSequence(this.#executor, request, start, scope, signal)
      return sequence.execute([{ index, outcome: { status: 'ok', value } }])
    })
    if (first?.result === undefined) return []
    const { results: _resultOfThisCall, ...withoutResults } = first
    return [withoutResults, ...others]
  }

  #remember(request: SessionRequest): void {
    const key = keyOf(request.session)
    this.#requests.delete(key)
    this.#requests.set(key, request)
    const [oldest] = this.#requests.keys()
    if (this.#requests.size > maxRemembered && oldest !== undefined) this.#requests.delete(oldest)
  }
}

function keyOf({ id, epoch }: Pick<SessionRef, 'id' | 'epoch'>): string {
  return `${id}/${epoch}`
}
