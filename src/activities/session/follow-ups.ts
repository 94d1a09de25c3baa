import { capturedCharacters } from '../../common/run/limits.js'
import { withTimeLimit } from '../../common/async/abort.js'
import type { FollowedCall, FollowUpInput, ToolActivityInput } from '../../common/calls/call-activities.js'
import { defined } from '../../common/defined.js'
import { refOf } from '../../common/json/external-value.js'
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
 * 1. Only calls of local tools are made here. Before one with an effect begins, the heartbeat details of the activity
 *    have all results on which it depends, and say what became of a `once` call that may have begun. The next attempt
 *    returns them; without one, the workflow reads them in the failure of the activity. All other calls wait for the
 *    workflow, which then has recorded the results on which they depend.
 * 2. A follow-up step never fails its activity. The workflow does the missing work by ordinary activities: it requests
 *    the step again and joins it, or gets the recorded result.
 * 3. An activity takes at most half a second longer (`maxFollowUpMs`), and until the effects that have begun have ended,
 *    and a sandbox is removed that is no longer needed (`close-ended.ts`).
 */
export class FollowUps {
  readonly #executor: FollowUpExecutor
  readonly #requests = new Map<string, SessionRequest>()

  constructor(executor: FollowUpExecutor) {
    this.#executor = executor
  }

  /** Executes the steps after a step. */
  async afterStep(
    { session, tools, limits, step, localCalls: allowance, isLastCell, outputLimit }: ExecuteStepInput,
    result: DescribedStepResult,
    scope: FollowUpScope,
  ): Promise<readonly FollowUpStep[]> {
    // Tools of the run's own source are never local.
    if (step === null || allowance === undefined || tools.source !== undefined) return []
    const { signatures: _, ...toolSet } = tools
    const request = { session, tools: toolSet, limits, allowance, ...defined({ isLastCell }) }
    this.#remember(request)
    const { number, now } = step
    // The history does not have the result of this step yet: if this attempt is lost, the step is requested again.
    const start = {
      step: number + 1,
      recorded: number - 1,
      now,
      outputLimit: outputLimit - outputLength(result),
      resultWith: (steps: readonly FollowUpStep[]) => ({ ...result, followUps: steps }),
    }
    return withTimeLimit(scope.signal, maxFollowUpMs, (signal) =>
      new FollowUpSequence(this.#executor, request, start, scope, signal).execute(result),
    )
  }

  /** Executes the steps after a call with this result. */
  async afterCall(
    { followUp, position: { index, ...where } }: ToolActivityInput & { readonly followUp: FollowUpInput },
    made: Omit<FollowedCall, 'followUps'>,
    scope: FollowUpScope,
  ): Promise<readonly FollowUpStep[]> {
    const { value } = made
    const known = this.#requests.get(keyOf(followUp.session))
    if (known === undefined || refOf(value) !== undefined) return []
    const { step, now, outputLimit = capturedCharacters, maxLocalCalls: maxCalls = 0 } = followUp
    const { toolUseId: _, ...allowance } = known.allowance
    const request = { ...known, allowance: { ...allowance, ...where, maxCalls } }
    const resultWith = (steps: readonly FollowUpStep[]) => ({ ...made, followUps: withoutOwnResult(steps) })
    const start = { step, recorded: step - 1, now, outputLimit, resultWith }
    return withoutOwnResult(
      await withTimeLimit(scope.signal, maxFollowUpMs, (signal) =>
        new FollowUpSequence(this.#executor, request, start, scope, signal).execute([
          { index, outcome: { status: 'ok', value } },
        ]),
      ),
    )
  }

  #remember(request: SessionRequest): void {
    const key = keyOf(request.session)
    this.#requests.delete(key)
    this.#requests.set(key, request)
    const [oldest] = this.#requests.keys()
    if (this.#requests.size > maxRemembered && oldest !== undefined) this.#requests.delete(oldest)
  }
}

/** The first step delivers the result of the call of the activity, which the activity returns itself. */
function withoutOwnResult([first, ...others]: readonly FollowUpStep[]): readonly FollowUpStep[] {
  if (first?.result === undefined) return []
  const { results: _, ...withoutResults } = first
  return [withoutResults, ...others]
}

function keyOf({ id, epoch }: Pick<SessionRef, 'id' | 'epoch'>): string {
  return `${id}/${epoch}`
}
