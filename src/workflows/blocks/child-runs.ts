import { type ChildWorkflowOptions, executeChild, workflowInfo } from '@temporalio/workflow'
import { workflowNames } from '../../common/names.js'
import type { AgentInput, AgentResult, ProgramInput, ProgramResult } from '../../common/runs.js'
import { truncateMiddle } from '../../common/text.js'

/** Temporal's options of the child workflow. */
export type ChildRunOptions = Omit<ChildWorkflowOptions, 'args'>

/** Set by the server; a start request may not have them. */
const serverAttributes = /^(BuildIds|Temporal.*)$/

/** Characters of the summary in the Temporal UI. */
const summaryCharacters = 200

/**
 * Runs an agent as a child workflow, and waits for its result. A cancellation of this workflow cancels it. The child has
 * the search attributes of this workflow, and a request to cancel is its end when this workflow is terminated.
 *
 * @throws ChildWorkflowFailure, with the error code of durable-ptc as the type of its cause
 */
export function runAgent(input: AgentInput, options: ChildRunOptions = {}): Promise<AgentResult> {
  return executeChild<(input: AgentInput) => Promise<AgentResult>>(workflowNames.agent, {
    ...defaults(input.question),
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
    ...defaults(input.source),
    ...options,
    args: [input],
  })
}

function defaults(text: string): ChildRunOptions {
  return {
    staticSummary: truncateMiddle(text, summaryCharacters),
    typedSearchAttributes: ownSearchAttributes(),
    // A terminated child could not remove its sandbox.
    parentClosePolicy: 'REQUEST_CANCEL',
  }
}

function ownSearchAttributes(): NonNullable<ChildWorkflowOptions['typedSearchAttributes']> {
  return workflowInfo()
    .typedSearchAttributes.getAll()
    .filter(({ key }) => !serverAttributes.test(key.name))
}
