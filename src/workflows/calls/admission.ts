import type { Caller } from '../../common/calls/calls.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import { maxFiles } from '../../common/files/files.js'
import { pluralize, takeStart } from '../../common/text/text.js'
import type { AdmittedCall, Next, RunCall, Stage } from './run-call.js'

/**
 * Refuses a call that may not start now. A limit that refuses it now may not refuse it a moment later, so only a call
 * that waited in the execution before this one is not checked.
 */
export const admission: Stage = (call, next) => {
  const refused = call.calls.waiting.get(call.idempotencyKey) ? undefined : refusalOf(call)
  return refused ? Promise.resolve(refused) : next(call)
}

/**
 * Waits while the budget is spent, or refuses the call. A call that starts has its place in the budget, so concurrent
 * calls never make more calls than the budget has.
 */
export const budget: Stage = (call, next) => {
  const { run, calls } = call
  if (!run.hasBudget || calls.awaitsResult(call)) return next(call)
  return run.budget.spentInTurn === undefined
    ? startReserved(call, next, run.budget.reserveCall())
    : startWhenRaised(call, next)
}

async function startWhenRaised(call: AdmittedCall, next: Next): Promise<CallOutcome> {
  const { calls, run } = call
  call.report({ for: 'budget' })
  // The next call that wakes up must see the place of this one as taken: nothing is awaited in between.
  let release: (() => void) | undefined
  const refused = await calls.budget.waitForRest(() => (release = run.budget.reserveCall()))
  return release ? startReserved(call, next, release) : denied(refused ?? '')
}

/** @param release gives the place of the call in the budget back */
async function startReserved(call: AdmittedCall, next: Next, release: () => void): Promise<CallOutcome> {
  call.onCounted = release
  try {
    return await next(call)
  } finally {
    release()
  }
}

/** Counts a call that starts. Other calls may have used up a limit while this one waited. */
export const count: Stage = (call, next) => {
  if (call.calls.awaitsResult(call)) return next(call) // it was counted when it began to wait
  const refused = refusalOf(call)
  if (refused) return Promise.resolve(refused)
  call.run.count({ toolCalls: 1 })
  call.onCounted()
  return next(call)
}

/** Deferred calls that wait at once. Continue-as-new carries over each of them. */
const maxDeferredCalls = 1_000

/** Calls that may have to be compensated. One history has the compensations of all of them. */
const maxCompensations = 1_000

export function refusalOf(call: AdmittedCall): CallOutcome | undefined {
  const { run, calls, tool, caller, described, allowedTools } = call
  const { limits, loweredLimits = {} } = run.config
  const { callsPerRun, storedBytes } = limits
  const { deferredCalls = maxDeferredCalls, compensations = maxCompensations } = loweredLimits
  if (described.refused) return described.refused
  if (allowedTools?.has(tool.name) === false) return unknownTool(call)
  const refusedBySkill = tool.name === run.config.doneCheck ? undefined : run.skills.refusalOf(tool.name)
  if (refusedBySkill !== undefined) return denied(refusedBySkill)
  if (!tool.allowedCallers.includes(caller))
    return denied(`${tool.name} may not be called by ${callerDescriptions[caller]}`)
  if (run.callsLeft <= 0) return denied(`the run has used up its ${callsPerRun} tool calls`)
  if (tool.returnsFile) {
    const problem = problemOfFileCall(call)
    if (problem !== undefined) return denied(problem)
  }
  if ((tool.deferred || tool.approval) && calls.waiting.size >= deferredCalls)
    return denied(`a run may have ${pluralize(deferredCalls, 'deferred call')} at once`)
  if (call.isCompensable && calls.compensations.size >= compensations)
    return denied(`a run may have ${pluralize(compensations, 'call')} that can be compensated`)
  if (run.isStorageExhausted) return denied(`the run has used up the ${storedBytes} bytes it may store`)
  return undefined
}

/** Returns why a call of a tool that returns a file may not start; undefined when it may. */
function problemOfFileCall({ run, tool: { name }, caller }: AdmittedCall): string | undefined {
  if (run.kind === 'embedded' && caller === 'direct')
    return `${name} returns a file, so only the code of a session and agents call it`
  if (!run.config.files)
    return `${name} returns a file, and this run has no sandbox of its own for it. Call it from code`
  return run.files.isFull ? `the run has ${maxFiles} files, and may have no more` : undefined
}

export function unknownTool({ described }: RunCall): CallOutcome {
  return described.refused ?? denied(`there is no tool named ${takeStart(described.tool, 100)}`)
}

export function denied(message: string): CallOutcome {
  return { status: 'denied', message }
}

const callerDescriptions = {
  direct: 'the model directly, only from code',
  code_execution: 'code',
} as const satisfies Record<Caller, string>
