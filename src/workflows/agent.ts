/*
 * Workflow `agent`: a question, turns of a model with code and tools, an answer.
 *
 * Owns: the life of one run: read the configuration, take the turns, close the session, return the answer.
 * Boundary: `turns/` takes the turns. The workflow never has the text of the messages.
 *
 * Invariants:
 * 1. The session is closed in every case but continue-as-new, which hands it to the next execution.
 * 2. The run succeeds with every status of its answer. Only the engine, or its cancellation, can fail it.
 */

import { CancelledFailure } from '@temporalio/workflow'
import { problemOfAttachments } from '../common/runs/attachments.js'
import type { AgentInput, AgentResult } from '../common/runs/runs.js'
import { continueAsNew, continueAsNewUpgraded } from './temporal/continue-as-new.js'
import { recordSummary, recordOutcome } from './temporal/memo.js'
import { failWorkflowOnError } from './temporal/fail-workflow.js'
import { rejection } from './temporal/rejection.js'
import { publishEnd } from './temporal/search-attributes.js'
import { handleBudget } from './budget.js'
import { withRuntime, registerInspectQuery } from './cell/code-runtime.js'
import { type RunState, runState, startRun } from './run.js'
import { AgentTurns, type AgentTurnsState, type AnswerOutcome } from './turns/agent-turns.js'

/** The state for the next execution of the continue-as-new chain. */
export type AgentState = RunState & AgentTurnsState

/** Workflow `agent`: answers a question with turns of a model, its code and its tools. */
export async function agent(input: AgentInput, state?: AgentState): Promise<AgentResult> {
  return failWorkflowOnError(async () => {
    recordSummary(input.question)
    const { question, attachments, ...options } = input
    const problem = problemOfAttachments(attachments)
    if (problem !== undefined) throw rejection('RUN_INPUT_INVALID', problem)
    const run = await startRun({ kind: 'agent', options, state })
    const turns = new AgentTurns(run, {
      state,
      continueAsNew: async (turnsState, isUpgraded) => {
        const next = isUpgraded ? continueAsNewUpgraded<typeof agent> : continueAsNew<typeof agent>
        // The state has the recorded configuration, with everything that the input said.
        await next(run, { question: '' }, { ...runState(run), ...turnsState })
      },
    })
    if (!state) turns.messages.addMessage(question, attachments)
    registerInspectQuery(run, turns.codeRuntime)
    handleBudget(run.budget)
    const answer = async (): Promise<AnswerOutcome> => {
      turns.resume()
      const outcome = await turns.runToAnswer(run.config.limits.turns)
      if (!outcome) throw new CancelledFailure('the run was interrupted')
      return outcome
    }
    const outcome = await publishEnd(
      run,
      () => withRuntime(turns.codeRuntime, answer),
      ({ status }) => status,
    )
    recordOutcome(outcome.status)
    return { ...outcome, ...run.counts }
  })
}
