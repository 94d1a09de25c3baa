import { type ChildWorkflowOptions, executeChild } from '@temporalio/workflow'
import { workflowNames } from '../../common/names.js'
import type { LanguageChoice } from '../../common/run/language-names.js'
import type { AgentInput, AgentResult, AgentStatus, ProgramInput, ProgramResult } from '../../common/run/runs.js'
import { describeRun } from '../../common/run/run-texts.js'
import { searchAttributesForChild } from '../run/search-attributes.js'

/** Temporal's options of the child workflow. */
export type ChildRunOptions = Omit<ChildWorkflowOptions, 'args'>

/**
 * The type of an agent of `defineAgent`. Importing the definition would add the worker's packages to the workflow
 * bundle.
 */
export interface AgentType {
  readonly name: string
  readonly output: { readonly _zod: { readonly input: unknown } } | undefined
}

type AnswerOf<Agent extends AgentType> = NonNullable<Agent['output']>['_zod']['input']

/**
 * The result of an agent, in a workflow. The worker has checked `output` against the JSON Schema of the agent. Its type
 * is what the model sends, without the defaults and transforms of the schema. Without a schema, the answer is the text.
 */
export type ChildAgentResult<Agent extends AgentType> = [AnswerOf<Agent>] extends [undefined]
  ? AgentResult
  : Omit<AgentResult, 'status' | 'output'> &
      (
        | { readonly status: 'answered'; readonly output: AnswerOf<Agent> }
        | { readonly status: Exclude<AgentStatus, 'answered'>; readonly output?: undefined }
      )

/**
 * Runs an agent as a child workflow, and waits for its result. The child has the search attributes of this workflow,
 * except those of a run. It is cancelled when this workflow is cancelled or terminated.
 *
 * `runAgent<typeof analyst>({ agent: 'analyst', question })` has a typed `output`, where `analyst` is the agent of this
 * name, from `import type { analyst } from './agents.js'`.
 *
 * @throws ChildWorkflowFailure, with the error code of durable-ptc as the type of its cause
 */
export function runAgent(input: AgentInput, options?: ChildRunOptions): Promise<AgentResult>
export function runAgent<Agent extends AgentType>(
  input: AgentInput & { readonly agent: string },
  options?: ChildRunOptions,
): Promise<ChildAgentResult<Agent>>
export function runAgent(input: AgentInput, options: ChildRunOptions = {}): Promise<AgentResult> {
  return executeChild<(input: AgentInput) => Promise<AgentResult>>(workflowNames.agent, {
    ...defaults('agent', input.question),
    ...options,
    args: [input],
  })
}

/**
 * Runs a program as a child workflow, and waits for its result, as {@link runAgent}. Code that fails is a result, not
 * an error.
 *
 * @throws ChildWorkflowFailure, with the error code of durable-ptc as the type of its cause
 */
export function runProgram(input: ProgramInput, options: ChildRunOptions = {}): Promise<ProgramResult> {
  return executeChild<(input: ProgramInput) => Promise<ProgramResult>>(workflowNames.program, {
    ...defaults('program', input.source, input.language),
    ...options,
    args: [input],
  })
}

function defaults(kind: 'agent' | 'program', text: string, language?: LanguageChoice): ChildRunOptions {
  return {
    ...describeRun(kind, text, language),
    typedSearchAttributes: searchAttributesForChild(),
    // A terminated child could not remove its sandbox.
    parentClosePolicy: 'REQUEST_CANCEL',
  }
}
