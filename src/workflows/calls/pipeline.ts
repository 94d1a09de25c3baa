/*
 * The way of a call, from the program or the model to its outcome.
 *
 * Owns: the order of the stages, and the choice of the executor.
 * Boundary: a stage knows the call and the rest of the pipeline, and no other stage. `run-calls.ts` has the state that
 * the calls of a run share.
 *
 * Invariants:
 * 1. Every call has an outcome, which is recorded once. Only a cancellation is thrown.
 * 2. The outcome is recorded before the slots of the call are free. When no slot is acquired, every started call has
 *    its outcome, or its state is in `WaitingCalls`: then the run may continue as new.
 * 3. A call that waits for an approval, the budget, a slot, an answer or a result holds no slot of the run, and no
 *    activity.
 */

import type { CallOutcome } from '../../common/calls/outcomes.js'
import { isLimited, sharesSandbox, type ToolConfig } from '../../common/calls/tool-config.js'
import { callActivity, failureOutcome } from './activity-call.js'
import { admission, budget, count, refusalOf, unknownTool } from './admission.js'
import { approval } from './people/approval.js'
import { dataFlow } from './data-flow/hold-call.js'
import { callDeferredTool } from './deferred-call.js'
import { callAskingTool } from './people/asking-call.js'
import { callRemoteTool } from './remote/remote-call.js'
import type { AdmittedCall, Next, RunCall, Stage } from './run-call.js'

/** Waits for a slot of the tool, if it has a limit or locks, and holds it until the outcome is recorded. */
const slotOfTool: Stage = (call, next) =>
  isLimited(call.tool)
    ? call.calls.toolSlots.run(call, async (hasWaited) => {
        if (hasWaited) call.followUp = undefined // the session may have been parked meanwhile
        return call.record(await next(call))
      })
    : next(call)

/**
 * Waits for a slot of the run, and holds it until the outcome is recorded, or the call begins to wait for its result.
 * A sub-agent that uses the session of the run holds none: the calls of its code need some.
 */
const slotOfRun: Stage = (call, next) =>
  sharesSandbox(call.tool) || call.calls.awaitsResult(call) // invariant 3
    ? next(call)
    : call.inSlotOfRun(async () => call.record(await next(call))) // invariant 2

const failure: Stage = async (call, next) => {
  try {
    return await next(call)
  } catch (thrown) {
    return failureOutcome(thrown, call.tool) // invariant 1
  }
}

/** Records a call that may have to be compensated: with its result, or when a failure leaves its effect unknown. */
const compensation: Stage = async (call, next) => {
  if (!call.isCompensable) return next(call)
  const inProgress = call.calls.compensations.begin({ ...call.input, summary: call.described.summary })
  try {
    const outcome = await next(call)
    inProgress.succeed(outcome.status === 'ok' ? outcome.value : null)
    return outcome
  } catch (thrown) {
    inProgress.fail(thrown)
    throw thrown
  }
}

const execute: Next = (call) => executorOf(call.tool)(call)

function executorOf(tool: ToolConfig): (call: AdmittedCall) => Promise<CallOutcome> {
  if (tool.deferred) return callDeferredTool
  if (tool.remote) return callRemoteTool
  return tool.asks ? callAskingTool : callActivity
}

const stages: readonly Stage[] = [
  admission,
  dataFlow,
  approval,
  budget,
  slotOfTool,
  slotOfRun,
  count,
  failure,
  compensation,
]

const pipeline = stages.reduceRight<Next>((next, stage) => (call) => stage(call, next), execute)

/**
 * Executes a call, and records its outcome.
 *
 * @param onOutcome called once, with the outcome, before the call gives up its slots
 * @throws CancelledFailure when the run or the scope of the call is cancelled
 */
export async function executeCall(call: RunCall, onOutcome?: (outcome: CallOutcome) => void): Promise<CallOutcome> {
  call.onOutcome = onOutcome
  try {
    return call.record(isAdmitted(call) ? await pipeline(call) : unknownTool(call))
  } finally {
    call.end()
    call.calls.forget(call)
  }
}

/**
 * Counts a call that a worker has made for a follow-up step, and returns its outcome. When other calls have used up a
 * limit meanwhile, a read is refused. An effect has happened.
 */
export function acceptLocalCall(call: RunCall, outcome: CallOutcome): CallOutcome {
  const isRefusable = call.tool?.effect === 'read'
  const refused = isAdmitted(call) ? (isRefusable ? refusalOf(call) : undefined) : unknownTool(call)
  if (!refused) call.run.count({ toolCalls: 1 })
  return call.record(refused ?? outcome)
}

function isAdmitted(call: RunCall): call is AdmittedCall {
  return call.tool !== undefined
}
