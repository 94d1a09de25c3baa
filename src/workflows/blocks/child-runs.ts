import { type ChildWorkflowOptions, executeChild } from '@temporalio/workflow'
import { workflowNames } from '../../common/names.js'
import type { AgentInput, AgentResult, ProgramInput, ProgramResult } from '../../common/runs.js'
import { describeRun } from '../../common/run-texts.js'
import { searchAttributesForChild } from '../temporal/search-attributes.js'

/** Temporal's options of the child workflow. */
export type ChildRunOptions = Omit<ChildWorkflowOptions, 'args'>

/**
 * Runs an agent as a child workflow, and waits for its result. The child has the search attributes of this workflow,
 * except those of a run. It is cancelled when this workflow is cancelled or terminated.
 *
 * @throws ChildWorkflowFailure, with the error code of durable-ptc as the type of its cause
 */
export function runAgent(input: AgentInput, options: ChildRunOptions = {}): Promise<AgentResult> {
  return executeChild<(input: AgentInput) => Promise<AgentResult>>(workflowNames.agent, {
    ...defaults('agent', input.question),
    ...options,
    args: [input],
  })
}

/**
 * Runs a program as a child workflow, and waits for its result, as {@link runAgent}. Code that fails is a result, not an
 * error.
 *
 * @throws ChildWorkflowFailure, with the error code of durable-ptc as the type of its cause
 */
export function runProgram(input: ProgramInput, options: ChildRunOptions = {}): Promise<ProgramResult> {
  return executeChild<(input: ProgramInput) => Promise<ProgramResult>>(workflowNames.program, {
    ...defaults('program', input.source),
    ...options,
    args: [input],
  })
}

function defaults(kind: 'agent' | 'program', text: string): ChildRunOptions {
  return {
    ...describeRun(kind, text),
    typedSearchAttributes: searchAttributesForChild(),
    // A terminated child could not remove its sandbox.
    parentClosePolicy: 'REQUEST_CANCEL',
  }
}
