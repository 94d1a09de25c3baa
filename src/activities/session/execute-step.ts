import { defined } from '../../common/defined.js'
import { type ValueRef, refOf } from '../../common/json/external-value.js'
import { failpoint } from '../../common/failpoint.js'
import type {
  DescribedStepResult,
  ExecuteStepInput,
  FollowUpStep,
  StepActivityResult,
  StepInput,
} from '../../common/session/steps.js'
import type { SessionRef } from '../../common/session/session.js'
import type { AttachOptions, SessionHost } from '../../sandbox/session/session-host.js'
import type { NetworkAccess } from '../../sandbox/network/access.js'
import { type ActivityScope, runActivity, type ActivityParts } from '../run-activity.js'
import { loadRunTools, loadSignatures } from '../../tools/sources/tool-set.js'
import { describeStepResult } from './describe-step-result.js'
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

/**
 * Activity `session.step`: repeats the recorded steps of a rebuild, then executes the new step and the follow-up steps.
 */
export function executeStep(parts: StepExecutor & { readonly followUps: FollowUps }) {
  const { host, registry, values, followUps } = parts
  return (input: ExecuteStepInput): Promise<StepActivityResult> =>
    runActivity(async (scope) => {
      failpoint('step.begins')
      // An attempt that was lost has executed the step, and made calls with effects.
      if (scope.storedResult !== undefined) return scope.storedResult as StepActivityResult
      const { session, tools, recorded, step, outputLimit, limits, localCalls, requester } = input
      const runTools = await loadRunTools(registry, tools, values, scope.signal)
      const describeOptions = { ...runTools, values, limits, signal: scope.signal }
      const signatures = await loadSignatures(tools, registry, values, scope.signal)
      const attachOptions: AttachOptions = { limits, ...defined({ tools: signatures }) }
      const network = await networkAccess(parts, input, { ...scope, requester })
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
      return withFollowUps(result, await followUps.afterStep(input, result, scope))
    })
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
