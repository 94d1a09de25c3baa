import { type CallAnswers, describeQuestion, type ToolQuestions } from '../common/calls/questions.js'
import type { Sample } from '../common/calls/sampling.js'
import type { ToolContext } from './tool-context.js'

/**
 * Thrown by a tool that gives its call up until people have answered. The run executes the call again, with the
 * answers in the context, whatever the effect of the tool is: only a tool with `asks` in its `ToolConfig` throws it.
 */
export class InputRequiredError extends Error {
  override readonly name = 'InputRequiredError'
  readonly questions: ToolQuestions

  constructor(questions: ToolQuestions) {
    super(questions.questions.map(describeQuestion).join(' '))
    this.questions = questions
  }
}

/** The context of a tool whose service may ask people, or the model of the run, during a call. */
export interface AskingToolContext extends ToolContext {
  /** Absent: the call has not asked people. */
  readonly answers?: CallAnswers
  /** Absent: the tool has no `samples` in its `ToolConfig`. */
  readonly sample?: Sample
}
