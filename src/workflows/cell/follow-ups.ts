import { defined } from '../../common/defined.js'
import type { DescribedCall, LocalCallAllowance } from '../../common/session/steps.js'
import { executionOfCalls } from '../../common/calls/call-identity.js'
import { callerIdentity } from '../../common/calls/calls.js'
import type { PreparedFollowUp, StepLimit } from '../session/follow-up-queue.js'
import type { CellState, CodeRuntime } from './code-runtime.js'

/** Returns what the worker of the next step may do by itself: make local calls, and remove the sandbox at the end. */
export function allowancesOfStep(runtime: CodeRuntime, cell: CellState): Pick<StepLimit, 'localCalls' | 'isLastCell'> {
  const { run, hasMoreCells } = runtime
  // The artifacts of a run with files are read after its cell.
  const isLastCell = hasMoreCells || run.config.files ? undefined : true
  return { localCalls: localCallAllowance(runtime, cell), isLastCell }
}

/** Returns the allowance for local calls; undefined when the program waits for a call. */
function localCallAllowance(runtime: CodeRuntime, cell: CellState): LocalCallAllowance | undefined {
  const { run, pendingCalls } = runtime
  if (pendingCalls.size > 0) return undefined
  const firstExecutionRunId = executionOfCalls(run.identity)
  const { resultBytes } = run.config.limits
  const maxCalls = maxLocalCalls(runtime, cell)
  const { toolUseId } = cell
  const identity = maxCalls === 0 ? {} : { ...callerIdentity(run.config), ...defined({ toolUseId }) }
  return { maxCalls, turn: cell.turn, cell: cell.number, firstExecutionRunId, resultBytes, ...identity }
}

/**
 * Returns the step after these calls, if the worker of the call may execute it: the program waits for one call, and for
 * no timer.
 */
export function prepareFollowUp(
  runtime: CodeRuntime,
  cell: CellState,
  calls: readonly DescribedCall[],
  outputLimit: number,
): PreparedFollowUp | undefined {
  const { pendingCalls, session } = runtime
  const [call, ...others] = calls
  const isOnlyCall = others.length === 0 && pendingCalls.size === 0
  if (!call || !isOnlyCall || cell.wakeAt !== null) return undefined
  return session.prepareFollowUp(call.index, outputLimit, maxLocalCalls(runtime, cell, 1))
}

/**
 * Returns how many calls of local tools a worker may make before the workflow checks the limits again.
 *
 * @param callsBefore number of calls that the run has not counted yet
 */
function maxLocalCalls(
  { run, calls: { dataFlow }, allowedTools }: CodeRuntime,
  { calls }: CellState,
  callsBefore = 0,
): number {
  const { limits, tools } = run.config
  // A worker knows all tools of the session.
  const local = tools.filter(({ execution }) => execution === 'local')
  if (allowedTools || run.skills.isRestricting || local.length === 0) return 0
  if (!local.every(({ name }) => dataFlow.mayCallLocally(name))) return 0
  const inBudget = run.hasBudget ? run.budget.callsLeft : Infinity
  return Math.max(Math.min(limits.callsPerCell - calls, Math.min(run.callsLeft, inBudget) - callsBefore), 0)
}
