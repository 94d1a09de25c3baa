import { z } from 'zod'
import type { JsonObject } from '../../common/json/json.js'
import { isToolUseBlock, type ModelReply } from '../../common/agent/messages.js'
import type { SubmittedAnswer } from '../../common/agent/model-turn.js'
import type { RecordedMode } from '../../common/agent/task-modes.js'
import { giveUpTool, submitAnswerTool, submitPlanTool } from '../../common/names.js'
import { jsonToText } from '../../common/text/text.js'
import { answerOf } from '../../models/prompt/answer-tool.js'
import { giveUpSchema, textAnswerSchema } from '../../models/prompt/task-tools.js'
import { describeIssues } from '../../tools/validation/describe-issues.js'
import { fromJsonSchema } from '../../tools/validation/json-schema.js'
import { parseValueNow } from '../../tools/validation/parse-value.js'
import { checkPlan } from './check-plan.js'

/** The submissions that a reply may have, as the run recorded them. */
export interface Expected {
  readonly mode?: RecordedMode | undefined
  readonly outputSchema?: JsonObject | undefined
}

/** Checks the submission of a reply by a task tool. Returns an empty object for a reply without one. */
export function checkAnswer(expected: Expected, reply: ModelReply): { readonly answer?: SubmittedAnswer } {
  const uses = reply.content.filter(isToolUseBlock)
  const [submitted] = uses.flatMap((use) => {
    const check = checkOf(use.name, expected)
    return check ? [{ ...use, check }] : []
  })
  if (submitted === undefined) {
    const isSubmissionMissing = expected.mode === 'single-turn' && expected.outputSchema !== undefined
    return isSubmissionMissing && uses.length > 0 ? { answer: { type: 'invalid', problem: 'There are no tools.' } } : {}
  }
  const { name, input, input_problem: problem, check } = submitted
  if (uses.length > 1) return { answer: { type: 'invalid', problem: notAlone(name) } }
  return { answer: problem === undefined ? check(input) : { type: 'invalid', problem } }
}

/** Returns the check of a task tool's input; undefined for a tool that the model does not have. */
function checkOf(name: string, expected: Expected): ((input: JsonObject) => SubmittedAnswer) | undefined {
  const { mode, outputSchema } = expected
  const answerSchema = outputSchema ?? (mode === 'autonomous' ? textAnswerSchema : undefined)
  if (name === submitAnswerTool) return answerSchema && ((input) => checkOutput(answerSchema, input))
  if (mode === 'plan' && name === submitPlanTool) return checkPlan
  return (mode === 'autonomous' || mode === 'plan') && name === giveUpTool ? checkReason : undefined
}

const notAlone = (name: string): string =>
  `${name} was called together with other tools, or twice. Read their results, then call ${name} once, alone.`

function checkReason(input: JsonObject): SubmittedAnswer {
  const { error } = z.safeParse(z.fromJSONSchema(giveUpSchema), input)
  if (error === undefined) return { type: 'gave_up', reason: jsonToText(input['reason'] ?? '') }
  return { type: 'invalid', problem: `${giveUpTool} needs the reason:\n${describeIssues(error)}` }
}

function checkOutput(outputSchema: JsonObject, input: JsonObject): SubmittedAnswer {
  const output = answerOf(outputSchema, input)
  const parsed = parseValueNow(fromJsonSchema(outputSchema, { checksFormats: true }), output)
  // The value itself: defaults and transforms are the client's.
  if (parsed.ok && output !== undefined) return { type: 'valid', output }
  const issues = parsed.ok ? '- answer: missing' : parsed.issues
  return { type: 'invalid', problem: `The answer does not fit its schema:\n${issues}\nSubmit it again, corrected.` }
}
