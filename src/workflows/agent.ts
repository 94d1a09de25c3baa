/*
 * Workflow `agent`: a question, turns of a model with code and tools, an answer.
 *
 * Owns: the life of one run: read the configuration, take the turns, close the session, return the answer.
 * Boundary: every status of the answer is a result; only the engine, or the cancellation of the run, can fail it.
 * `turns/` takes the turns, and works on a plan. The text of the messages never enters the workflow.
 */

import { CancelledFailure, ContinueAsNew } from '@temporalio/workflow'
import { problemOfAttachments } from '../common/conversation/attachments.js'
import { defined } from '../common/defined.js'
import type { AgentInput, AgentResult, RunCounts, SubagentInput, ContinuedAgentInput } from '../common/run/runs.js'
import { continueAsNew } from './run/continue-as-new.js'
import { recordSummary, recordOutcome } from './run/memo.js'
import { failWorkflowOnError, rejection } from './temporal/failures.js'
import { publishEnd } from './run/search-attributes.js'
import { handleBudget } from './run/budget.js'
import { withRuntime, registerInspectQuery } from './cell/code-runtime.js'
import { compensateUnfinished } from './calls/compensation/compensate-unfinished.js'
import { labelsMember } from './calls/data-flow/data-flow.js'
import type { RunCalls } from './calls/run-calls.js'
import { type RunState, runState, startRun } from './start-run.js'
import { PlanRun, type PlanState } from './turns/plan/plan-run.js'
import { reportUsage } from './calls/subagent/usage-report.js'
import { AgentTurns, type AgentTurnsState } from './turns/agent-turns.js'
import type { UserMessage } from './turns/message-history.js'

export type AgentState = RunState & AgentTurnsState & { readonly plan?: PlanState }

type AgentArguments =
  | [input: AgentInput & Partial<SubagentInput>, state?: undefined]
  | [input: ContinuedAgentInput, state: AgentState]

export async function agent(...[input, state]: AgentArguments): Promise<AgentResult> {
  return failWorkflowOnError(async () => {
    const { lease, callKey }: ContinuedAgentInput = input
    let calls: RunCalls | undefined
    try {
      if (state) {
        calls = await startRun({ kind: 'agent', state, callKey })
        return await answerQuestion(calls, state, input)
      }
      const { question, attachments, callKey: _, labels, ...options } = input
      recordSummary(question)
      const problem = problemOfAttachments(attachments)
      if (problem !== undefined) throw rejection('RUN_INPUT_INVALID', problem)
      calls = await startRun({ kind: 'agent', options, callKey })
      if (labels) calls.dataFlow.readOutput(labels)
      return await answerQuestion(calls, { text: question, attachments }, input)
    } catch (thrown) {
      if (lease && !(thrown instanceof ContinueAsNew)) await reportUsage(lease, (calls?.run ?? state)?.counts)
      throw thrown
    }
  })
}

async function answerQuestion(
  calls: RunCalls,
  from: AgentState | UserMessage,
  { lease, callKey }: ContinuedAgentInput,
): Promise<AgentResult> {
  const { run, compensations } = calls
  const state = 'config' in from ? from : undefined
  const turns = new AgentTurns(calls, {
    state,
    continueAsNew: async (turnsState, isUpgraded) => {
      const next: AgentState = { ...runState(calls), ...turnsState, ...defined({ plan: plan.state }) }
      const kept = defined({ lease, callKey })
      await continueAsNew<typeof agent>(run, [kept, next], isUpgraded)
    },
  })
  const plan = new PlanRun(run, turns, state?.plan)
  if (!('config' in from)) turns.messages.addMessage(from)
  registerInspectQuery(turns.codeRuntime)
  handleBudget(run.budget, lease !== undefined)
  const answer = async (): Promise<Omit<AgentResult, keyof RunCounts>> => {
    turns.resume()
    const { mode, limits } = run.config
    const outcome = await (mode === 'plan' ? plan.runToAnswer() : turns.runToAnswer(limits.turns))
    // The answer of a sub-agent stays in the run of its caller, with its labels.
    const released = outcome && callKey === undefined ? await turns.releaseAnswer(outcome) : outcome
    if (!released) throw new CancelledFailure('the run was interrupted')
    return released
  }
  const isFinished = ({ status }: Pick<AgentResult, 'status'>): boolean =>
    status === 'answered' || status === 'withheld'
  const outcome = await publishEnd(
    run,
    () => compensateUnfinished(compensations, () => withRuntime(turns.codeRuntime, answer), isFinished),
    ({ status }) => status,
  )
  recordOutcome(outcome.status)
  const compensation = compensations.report
  const labels = outcome.status === 'withheld' ? {} : calls.dataFlow.ofModel
  return {
    ...outcome,
    ...run.counts,
    ...defined({ compensation }),
    ...labelsMember(labels),
  }
}
