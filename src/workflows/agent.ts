/*
 * Workflow `agent`: a question, turns of a model with code and tools, an answer.
 *
 * Owns: the life of one run: read the configuration, take the turns, close the session, return the answer.
 * Boundary: `turns/` takes the turns, and `plan/` works on a plan. The text of the messages never enters the workflow.
 *
 * Invariants:
 * 1. The session is closed in every case but continue-as-new, which hands it to the next execution.
 * 2. The run succeeds with every status of its answer. Only the engine, or its cancellation, can fail it.
 * 3. A sub-agent that ends without a result reports its usage before it ends.
 */

import { CancelledFailure, ContinueAsNew } from '@temporalio/workflow'
import { problemOfAttachments } from '../common/runs/attachments.js'
import type { AgentInput, AgentResult, BudgetLease, RunCounts, SubagentInput } from '../common/runs/runs.js'
import { continueAsNew, continueAsNewUpgraded } from './run/continue-as-new.js'
import { recordSummary, recordOutcome } from './run/memo.js'
import { failWorkflowOnError } from './temporal/fail-workflow.js'
import { rejection } from './temporal/rejection.js'
import { publishEnd } from './run/search-attributes.js'
import { handleBudget } from './run/budget.js'
import { withRuntime, registerInspectQuery } from './cell/code-runtime.js'
import { compensateUnfinished } from './calls/compensation/compensate-unfinished.js'
import { type Run, type RunState, runState, startRun } from './run/run.js'
import { PlanRun, type PlanState } from './turns/plan/plan-run.js'
import { reportUsage } from './calls/subagent/usage-report.js'
import { AgentTurns } from './turns/agent-turns.js'
import type { AgentTurnsState } from './turns/agent-turns-state.js'

/** The state for the next execution of the continue-as-new chain. */
export type AgentState = RunState & AgentTurnsState & { readonly plan?: PlanState }

export async function agent(input: AgentInput | SubagentInput, state?: AgentState): Promise<AgentResult> {
  return failWorkflowOnError(async () => {
    recordSummary(input.question)
    const { question: _, attachments, callKey, ...options }: AgentInput & Partial<SubagentInput> = input
    const problem = problemOfAttachments(attachments)
    if (problem !== undefined) throw rejection('RUN_INPUT_INVALID', problem)
    const lease = leaseOf(input)
    let counts = state?.counts
    try {
      const run = await startRun({ kind: 'agent', options, state, callKey })
      counts = run.counts
      return await answerQuestion(run, input, state)
    } catch (thrown) {
      if (lease && !(thrown instanceof ContinueAsNew)) await reportUsage(lease, counts)
      throw thrown
    }
  })
}

async function answerQuestion(
  run: Run,
  input: AgentInput | SubagentInput,
  state: AgentState | undefined,
): Promise<AgentResult> {
  const { question, attachments } = input
  const lease = leaseOf(input)
  const { callKey } = run.identity
  const turns = new AgentTurns(run, {
    state,
    continueAsNew: async (turnsState, isUpgraded) => {
      const next = isUpgraded ? continueAsNewUpgraded<typeof agent> : continueAsNew<typeof agent>
      // The state contains the recorded configuration, which includes all other fields of the input.
      const own = { ...turnsState, ...(plan.state && { plan: plan.state }) }
      const asked = { question: '', ...(lease && { lease, ...(callKey !== undefined && { callKey }) }) }
      await next(run, asked, { ...runState(run), ...own })
    },
  })
  const plan = new PlanRun(run, turns, state?.plan)
  if (!state) turns.messages.addMessage({ text: question, attachments })
  registerInspectQuery(run, turns.codeRuntime)
  handleBudget(run.budget, lease !== undefined)
  const answer = async (): Promise<Omit<AgentResult, keyof RunCounts>> => {
    turns.resume()
    const { mode, limits } = run.config
    const outcome = await (mode === 'plan' ? plan.runToAnswer() : turns.runToAnswer(limits.turns))
    if (!outcome) throw new CancelledFailure('the run was interrupted')
    return outcome
  }
  const outcome = await publishEnd(
    run,
    () => compensateUnfinished(run, () => withRuntime(turns.codeRuntime, answer), isFinished),
    ({ status }) => status,
  )
  recordOutcome(outcome.status)
  const compensation = run.compensations.report
  return { ...outcome, ...run.counts, ...(compensation && { compensation }) }
}

/** Returns undefined for a run that is not a sub-agent. */
function leaseOf(input: AgentInput | SubagentInput): BudgetLease | undefined {
  return 'lease' in input ? input.lease : undefined
}

function isFinished({ status }: Pick<AgentResult, 'status'>): boolean {
  return status === 'answered'
}
