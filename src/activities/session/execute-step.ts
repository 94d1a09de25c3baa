import { withTimeLimit } from '../../common/async/abort.js'
import { defined } from '../../common/defined.js'
import { type ValueRef, refOf } from '../../common/json/external-value.js'
import { failpoint } from '../../common/failpoint.js'
import type {
  DescribedStepResult,
  ExecuteStepInput,
  ExecuteStepResult,
  FollowUpStep,
  StepActivityResult,
  StepInput,
} from '../../common/session/steps.js'
import type { SessionRef } from '../../common/session/session.js'
import type { AttachOptions, SessionHost } from '../../sandbox/session/session-host.js'
import type { NetworkAccess } from '../../sandbox/network/access.js'
import { type ActivityScope, runActivity, type ActivityParts } from '../run-activity.js'
import { loadRunTools, loadSignatures } from '../../tools/sources/tool-set.js'
import { closeIfEnded } from './close-ended.js'
import { describeStepResult } from './describe-step-result.js'
import { followUpAttempt } from './follow-up-sequence.js'
import type { FollowUps } from './follow-ups.js'
import { networkAccess, type NetworkParts } from './network-access.js'
import { observeStep } from './observe-step.js'
import { rebuildSession, type SendStep } from './rebuild-session.js'
import { takeEnd } from '../../common/text/text.js'

/** Maximum characters of printed text in the heartbeat of a running step. */
const maxProgressCharacters = 500

/** The parts of a worker that execute a step. */
export interface StepExecutor extends ActivityParts, NetworkParts {
  readonly host: SessionHost
}

/** The parts of a worker for the activities that execute steps. */
export type StepParts = StepExecutor & { readonly followUps: FollowUps }

/**
 * Activity `session.step`: repeats the recorded steps of a rebuild, then executes the new step and the follow-up steps.
 */
export function executeStep(parts: StepParts) {
  return (input: ExecuteStepInput): Promise<StepActivityResult> =>
    runActivity(async (scope) => {
      failpoint('step.begins')
      // An attempt that was lost has executed the step, and made calls with effects.
      if (scope.storedResult !== undefined) return scope.storedResult as StepActivityResult
      const result = await executeSteps(parts, input, scope)
      if (input.step === null || !isExecuted(result)) return result
      return withFollowUps(result, await parts.followUps.afterStep(input, result, scope))
    })
}

/**
 * Milliseconds after which the opening of a session ends without the result of its first step. The step continues, and
 * may be interrupted from then on. A new sandbox starts its interpreter in this time.
 */
const maxFirstStepMs = 2_000

/**
 * Executes the first step in the activity that has opened the session. Never rejects.
 *
 * @returns undefined when the step has not ended, or failed: the workflow requests it again, and joins it or gets the
 *   error
 */
export async function executeFirstStep(
  parts: StepParts,
  input: ExecuteStepInput,
  scope: ActivityScope,
): Promise<DescribedStepResult | undefined> {
  // A lost attempt may have executed it. The result is then that of `session.step`, whose attempts are newer.
  if (scope.attempt > 1) return undefined
  try {
    failpoint('step.begins')
    const result = await withTimeLimit(scope.signal, maxFirstStepMs, (signal) =>
      executeSteps(parts, input, { ...scope, signal, attempt: followUpAttempt }, scope.signal),
    )
    if (!isExecuted(result)) return undefined
    // The process knows the session from then on, and executes the steps after its calls.
    await parts.followUps.afterStep(input, result, scope)
    return result
  } catch {
    return undefined
  }
}

function isExecuted(result: ExecuteStepResult): result is DescribedStepResult {
  return result.type !== 'rebuilt' && result.type !== 'restore_failed' && result.type !== 'diverged'
}

/** @param ofNetwork the signal for the requests of the code, which may go on when the signal of the scope is aborted */
async function executeSteps(
  parts: StepExecutor,
  input: ExecuteStepInput,
  scope: ActivityScope,
  ofNetwork = scope.signal,
): Promise<ExecuteStepResult> {
  const { host, registry, values } = parts
  const { session, tools, recorded, step, outputLimit, limits, localCalls, isLastCell, requester } = input
  const runTools = await loadRunTools(registry, tools, values, scope.signal)
  const describeOptions = { ...runTools, values, limits, signal: scope.signal }
  const signatures = await loadSignatures(tools, registry, values, scope.signal)
  const attachOptions: AttachOptions = { limits, ...defined({ tools: signatures }) }
  const network = await networkAccess(parts, input, { ...scope, signal: ofNetwork, requester })
  const sendStep = createStepSender(parts, session, attachOptions, network, scope)
  const rebuild = { host, session, attachOptions, describeOptions, scope, sendStep }
  const failure = recorded && (await rebuildSession(rebuild, recorded))
  if (failure !== undefined) return failure
  if (step === null) return { type: 'rebuilt' }
  const result = await observeStep(
    parts,
    { session, step, localCalls },
    { ...scope, requester },
    {
      execute: (onPrinted) => sendStep(step, onPrinted),
      describe: (executed) => describeStepResult(executed, describeOptions, outputLimit),
    },
  )
  failpoint('step.ends')
  return isLastCell ? closeIfEnded(host, session, result, scope) : result
}

function withFollowUps(result: DescribedStepResult, followUps: readonly FollowUpStep[]): StepActivityResult {
  return followUps.length === 0 ? result : { ...result, followUps }
}

/** Sends steps to the session's sandbox, streams referenced values to it, and reports printed text. */
function createStepSender(
  { host, registry, values }: Pick<StepExecutor, 'host' | 'registry' | 'values'>,
  session: SessionRef,
  attachOptions: AttachOptions,
  network: NetworkAccess | undefined,
  { attempt, signal, report }: ActivityScope,
): SendStep {
  return (step, onPrinted = () => undefined) => {
    let printed = ''
    const onOutput = (text: string): void => {
      printed = takeEnd(printed + text, maxProgressCharacters)
      report({ printed: registry.redact(printed, { kind: 'output' }) })
      onPrinted(printed)
    }
    const readValue = (ref: ValueRef) => values.readUtf8(ref, neededBy(ref, step.input), signal)
    return host.executeStep(session, step, attachOptions, { attempt, signal, onOutput, readValue, network })
  }
}

/** Describes a referenced value for the message of an error. */
function neededBy({ sha256 }: ValueRef, input: StepInput): string {
  if (input.type === 'cell') {
    const isInput = input.inputData !== undefined && refOf(input.inputData)?.sha256 === sha256
    return isInput ? 'the input of the run' : `the code of cell ${input.cell}`
  }
  const results = input.type === 'results' ? input.results : []
  const found = results.find(({ outcome }) => outcome.status === 'ok' && refOf(outcome.value)?.sha256 === sha256)
  return `the result of call ${found?.index ?? 0} of the session`
}
