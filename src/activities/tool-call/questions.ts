import type { AnnounceQuestionInput, CheckAnswerInput, QuestionAnswer } from '../../common/calls/questions.js'
import { answerOf } from '../../tools/calls/answer-of.js'
import { type EventSinks, Observer } from '../observe.js'
import { runActivity } from '../run-activity.js'
import { callFields } from './observe-call.js'

/**
 * Activity `tool.question`: publishes that a call waits for the answer to its question. Its input tells the question,
 * and its token, to readers of the history.
 */
export function announceQuestion(sinks: EventSinks) {
  return (input: AnnounceQuestionInput): Promise<void> =>
    runActivity(async (scope) => {
      const observer = new Observer(sinks, scope, { unit: `question/${input.idempotencyKey}/${input.number}` })
      await observer.publish({ type: 'call.deferred', ...callFields(input) })
    })
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
