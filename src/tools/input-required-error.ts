import { type CallAnswers, describeQuestion, type ToolQuestions } from '../common/calls/questions.js'
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

/** The context of a tool that may throw an {@link InputRequiredError}. */
export interface AskingToolContext extends ToolContext {
  /** Absent: the call has not asked. */
  readonly answers?: CallAnswers
}
