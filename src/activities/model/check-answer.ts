import { z } from 'zod'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { isToolUseBlock, type ModelReply } from '../../common/runs/messages.js'
import type { SubmittedAnswer } from '../../common/runs/model-turn.js'
import { submitAnswerTool } from '../../common/names.js'
import { answerOf } from '../../models/answer-tool.js'
import { describeIssues } from '../../tools/validation/describe-issues.js'

/** The answer in a reply, checked against the schema that the run recorded; nothing for a reply without an answer. */
export function checkAnswer(outputSchema: JsonObject, reply: ModelReply): { readonly answer?: SubmittedAnswer } {
  const uses = reply.content.filter(isToolUseBlock)
  const submitted = uses.find(({ name }) => name === submitAnswerTool)
  if (submitted === undefined) return {}
  if (uses.length > 1) return { answer: { type: 'invalid', problem: notAlone } }
  const { input_problem: problem } = submitted
  if (problem !== undefined) return { answer: { type: 'invalid', problem } }
  return { answer: checkOutput(outputSchema, answerOf(outputSchema, submitted.input)) }
}

const notAlone =
  `${submitAnswerTool} was called together with other tools, or twice. Read their results, ` +
  `then call ${submitAnswerTool} once, alone.`

function checkOutput(outputSchema: JsonObject, output: JsonValue | undefined): SubmittedAnswer {
  const { error } = z.safeParse(z.fromJSONSchema(outputSchema), output)
  // The value itself: defaults and transforms are the client's.
  if (error === undefined && output !== undefined) return { type: 'valid', output }
  const issues = error === undefined ? '- answer: missing' : describeIssues(error)
  return { type: 'invalid', problem: `The answer does not fit its schema:\n${issues}\nSubmit it again, corrected.` }
}
