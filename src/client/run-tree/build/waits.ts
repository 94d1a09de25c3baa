import { isQuestion } from '../../../common/calls/deferred-calls.js'
import type { BudgetPause } from '../../../common/budget/budget.js'
import type { CallNode, TurnNode } from '../tree.js'
import type { CallWait, RunWait } from '../waits.js'

/** Returns the waits of a run for something from outside, the oldest first. */
export function waitsOf(turns: readonly TurnNode[], paused: BudgetPause | undefined): readonly RunWait[] {
  const calls = turns.flatMap(({ cells, directCalls }) => [...cells.flatMap((cell) => cell.calls), ...directCalls])
  const ofBudget: readonly RunWait[] = paused ? [{ type: 'budget', ...paused }] : []
  return [...calls.flatMap(callWait), ...ofBudget].toSorted((one, other) => one.since - other.since)
}

function callWait(call: CallNode): readonly CallWait[] {
  const { tool, summary, arguments: args, position, deferred, approval } = call
  const wait = deferred ?? approval
  if (!wait) return []
  const { since, expiresAt, completionToken: token } = wait
  const type = approval ? 'approval' : isQuestion(args) ? 'answer' : 'result'
  return [{ type, tool, summary, arguments: args, position, since, expiresAt, token }]
}
