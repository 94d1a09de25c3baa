import { log } from '@temporalio/activity'
import { attemptsForLostWorkers, type ToolCallInput } from '../common/calls.js'
import { crashPoint } from '../common/crash-point.js'
import { PtcError } from '../common/errors.js'
import type { JsonObject } from '../common/json.js'
import type { Limits } from '../common/limits.js'
import type { ToolPlan } from '../common/plan.js'
import { type Held, refOf } from '../common/values.js'
import { ownTurn } from '../sandbox/protocol/pace.js'
import type { ToolRegistry } from '../tools/registry.js'
import { runTool } from '../tools/run-tool.js'
import type { Values } from '../values/values.js'
import { type AttemptReport, attemptOfTool, readReport } from './earlier-attempts.js'
import { handBack } from './hand-back.js'
import { type ActivityScope, inActivity } from './in-activity.js'
import { LatestAttempts } from './latest-attempts.js'

/** A call, and what this run allows of it; the worker's configuration has the rest. */
export type ServedCall = ToolCallInput & {
  readonly limits: Pick<Limits, 'argumentBytes' | 'resultBytes'>
  /** Of the tool as it was when the run began. Absent in histories from before it was recorded. */
  readonly inputDigest?: string
}

/** The activity of every tool: Temporal's default one, which is given each activity type that has no function of its own. */
export function toolActivities(registry: ToolRegistry, values: Values, limits: Limits) {
  const plans = new Map(registry.plans().map((plan) => [plan.name, plan]))
  const latest = new LatestAttempts()
  return {
    default(call: ServedCall): Promise<Held> {
      const plan = plans.get(call.tool)
      return plan ? runCall({ registry, values, limits, latest }, plan, call) : handBack(call.tool)
    },
  }
}

/** What all calls of a worker have in common. */
interface ToolWorker {
  readonly registry: ToolRegistry
  readonly values: Values
  readonly limits: Limits
  readonly latest: LatestAttempts
}

function runCall(
  { registry, values, limits: configured, latest }: ToolWorker,
  plan: ToolPlan,
  { limits: allowed, inputDigest, ...call }: ServedCall,
): Promise<Held> {
  const work = async ({ signal, attempt: attemptOfCall, report, earlierDetails, runPart }: ActivityScope) => {
    const { details: heartbeatDetails, handedBack, waitingSince } = readReport(earlierDetails)
    const attempt = attemptOfTool(attemptOfCall, { handedBack })
    refuseLostCall(plan, attempt)
    // A worker has the tool: if the next one does not, its wait begins anew.
    if (waitingSince !== undefined) report({ details: heartbeatDetails, handedBack } satisfies AttemptReport)
    crashPoint('tool.begins')
    await latest.begin(call.idempotencyKey, attemptOfCall, signal)
    const args = await argumentsOf(values, call, signal)
    // Their check takes a while, and as many calls may begin at once as code likes.
    if (refOf(call.arguments) !== undefined) await ownTurn()
    let details = heartbeatDetails
    const heartbeat = (given: unknown = details): void => {
      details = given
      report({ details, handedBack } satisfies AttemptReport)
    }
    const context = { signal, attempt, log, heartbeat, heartbeatDetails, runPart }
    const limits = { ...configured, ...allowed }
    const result = await runTool(registry, { ...call, arguments: args }, limits, context).catch((thrown: unknown) => {
      throw inputDigest === undefined || inputDigest === plan.inputDigest ? thrown : changedError(plan, thrown)
    })
    crashPoint('tool.ran')
    // A store that is away is waited for here: the tool has run, and is not to run again for that.
    const held = await values.hold(result, signal)
    crashPoint('tool.ends')
    return held
  }
  return inActivity(
    work,
    (attempt, earlierDetails) => attemptOfTool(attempt, readReport(earlierDetails)) >= plan.attempts,
  )
}

/** What Temporal's retry policy can't say: it also counts attempts that were handed back. */
function refuseLostCall({ name, effect, attempts }: ToolPlan, attempt: number): void {
  if (effect === 'once' && attempt > 1) {
    throw new PtcError('TOOL_OUTCOME_UNKNOWN', 'the worker that ran it was lost')
  }
  if (attempt > attempts + attemptsForLostWorkers) {
    throw new PtcError('TOOL_LOST', `${name} was lost with its worker, again and again`)
  }
}

function changedError({ name }: ToolPlan, thrown: unknown): unknown {
  if (!PtcError.isInstance(thrown) || thrown.code !== 'TOOL_INPUT_INVALID') return thrown
  return new PtcError('TOOL_CHANGED', `${name} was changed after this run began. ${thrown.message}`)
}

async function argumentsOf(values: Values, { tool, arguments: held }: ToolCallInput, signal: AbortSignal) {
  // What was kept was an object: the sandbox's and the model's arguments are nothing else.
  return (await values.load(held, `the arguments of ${tool}`, signal)) as JsonObject
}
