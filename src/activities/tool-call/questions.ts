import type { AnnounceQuestionInput, CheckAnswerInput, QuestionAnswer } from '../../common/calls/questions.js'
import { answerOf } from '../../tools/calls/answer-of.js'
import { runActivity } from '../run-activity.js'

/**
 * Activity `tool.question`. Its input tells the question, and what its token needs, to readers of the history: without
 * a worker nobody can ask the workflow. The event `call.deferred` was published when the tool gave its call up.
 */
export function announceQuestion() {
  return (_input: AnnounceQuestionInput): Promise<void> => runActivity(() => Promise.resolve())
}

/**
 * Activity `tool.answer`: returns the answer of a person as the schema of its question wants it.
 *
 * @throws PtcError TOOL_OUTPUT_INVALID when the answer does not fit
 */
export function checkAnswer() {
  return ({ question, value }: CheckAnswerInput): Promise<QuestionAnswer> =>
    runActivity(async () => answerOf(question, value))
}
