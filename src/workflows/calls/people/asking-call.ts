/*
 * The execution of a call whose tool may ask people during the call, as an MCP server does by elicitation.
 *
 * Owns: the questions of a call, from the activity that raised them until the call is executed again with the answers.
 * Boundary: the activity fails with TOOL_INPUT_REQUIRED. `completions.ts` has tokens, expiry and the first answer:
 * a question is answered like a deferred call gets its result.
 *
 * Invariants:
 * 1. Only a tool whose recorded `ToolConfig` says that it asks comes here. Without a question its call has the same
 *    commands as any other.
 * 2. A question waits without an activity and without a slot of the run. While it waits, `WaitingCalls` has all that
 *    the next execution of the run needs.
 * 3. The call keeps its identity, also when it is executed again.
 */

import { ActivityFailure, ApplicationFailure, workflowInfo } from '@temporalio/workflow'
import { callerIdentity } from '../../../common/calls/calls.js'
import type { CallOutcome } from '../../../common/calls/outcomes.js'
import {
  type CallAnswers,
  describeQuestion,
  type QuestionAnswer,
  questionKey,
  type ToolQuestions,
} from '../../../common/calls/questions.js'
import { defined } from '../../../common/defined.js'
import type { ErrorCode } from '../../../common/errors.js'
import { pluralize } from '../../../common/text/text.js'
import { announceQuestion } from '../../temporal/activities.js'
import { callActivity, failureOutcome } from '../activity-call.js'
import type { AdmittedCall } from '../run-call.js'
import { questionNumber, type WaitingCall } from '../waiting-calls.js'

/** Questions that may wait at once. Continue-as-new carries over each of them, with its answers. */
const maxWaitingQuestions = 100

/**
 * Executes a call as an activity, again after each question.
 *
 * @throws ActivityFailure, CancelledFailure
 */
export async function callAskingTool(call: AdmittedCall): Promise<CallOutcome> {
  // In the execution before this one the call may have begun to ask.
  const known = call.calls.waiting.get(call.idempotencyKey)?.asked
  if (!known) {
    const questions = await callActivity(call).catch(questionsOf)
    if ('status' in questions) return questions
    const refused = await ask(call, questions)
    if (refused) return refused
    call.freeSlot() // invariant 2
  }
  for (;;) {
    const answers = await waitForAnswers(call)
    const outcome = await call.inSlotOfRun(() => callAgain(call, answers))
    if (outcome) return outcome
  }
}

/** Executes the call with the answers. Returns undefined when it asks again. */
async function callAgain(call: AdmittedCall, answers: CallAnswers): Promise<CallOutcome | undefined> {
  try {
    const result = await callActivity(call, answers).catch(questionsOf)
    // The outcome is recorded before the slot is free: invariant 2 of `pipeline.ts`.
    if ('status' in result) return call.record(result)
    const refused = await ask(call, result)
    return refused && call.record(refused)
  } catch (thrown) {
    call.record(failureOutcome(thrown, call.tool))
    throw thrown
  }
}

const inputRequired: ErrorCode = 'TOOL_INPUT_REQUIRED'

/** @throws every other failure */
function questionsOf(thrown: unknown): ToolQuestions {
  const cause = thrown instanceof ActivityFailure ? thrown.cause : undefined
  const details = cause instanceof ApplicationFailure && cause.type === inputRequired ? cause.details?.[0] : undefined
  if (typeof details === 'object' && details !== null && 'questions' in details) return details as ToolQuestions
  throw thrown
}

/** Begins to wait for the answers. Returns the outcome of the call when the questions are refused. */
async function ask(call: AdmittedCall, { questions, state }: ToolQuestions): Promise<CallOutcome | undefined> {
  const { waiting } = call.calls
  const waitingCall = waiting.add(call.input)
  const others = [...waiting].filter(({ state: { type } }) => type === 'question').length
  if (others >= maxWaitingQuestions) {
    const limit = pluralize(maxWaitingQuestions, 'question')
    return { status: 'tool_error', message: `${call.tool.name} asks, and a run may have ${limit} at once` }
  }
  const { answered = [], announced = 0 } = waitingCall.asked ?? {}
  waitingCall.asked = { open: questions, answered, announced, ...defined({ state }) }
  beginQuestion(call, waitingCall)
  await announce(call, waitingCall)
  return undefined
}

function beginQuestion({ calls, run }: AdmittedCall, waitingCall: WaitingCall): void {
  const since = Date.now()
  calls.waiting.apply(waitingCall, { type: 'inquire', since, expiresAt: since + run.config.approvals.expiresMs })
}

/** Announces the question that waits, unless that is done. */
async function announce(call: AdmittedCall, waitingCall: WaitingCall): Promise<void> {
  const { run, calls, input } = call
  const { asked, state } = waitingCall
  const [question] = asked?.open ?? []
  const number = questionNumber(waitingCall)
  if (!asked || !question || state.type !== 'question' || asked.announced >= number) return
  const { config } = run
  const signature = calls.completions.sign(questionKey(call.idempotencyKey, number))
  const deferred = { firstExecutionRunId: workflowInfo().firstExecutionRunId, signature }
  const { expiresMs } = config.approvals
  const announced = { ...input, ...callerIdentity(config), number, question, deferred, expiresMs }
  try {
    await announceQuestion(announced, config.timeouts, describeQuestion(question))
  } catch (thrown) {
    // The list of waits has the question.
    if (!(thrown instanceof ActivityFailure) || !(thrown.cause instanceof ApplicationFailure)) throw thrown
  }
  // An answer may have arrived meanwhile.
  if (waitingCall.asked) waitingCall.asked = { ...waitingCall.asked, announced: number }
}

/** Waits until all questions have their answers, one after another. */
async function waitForAnswers(call: AdmittedCall): Promise<CallAnswers> {
  const { waiting } = call.calls
  const waitingCall = waiting.add(call.input)
  for (;;) {
    const isAnnounced = (waitingCall.asked?.announced ?? 0) >= questionNumber(waitingCall)
    if (!isAnnounced && waitingCall.state.type === 'question') await call.inSlotOfRun(() => announce(call, waitingCall))
    const { asked, state } = waitingCall
    const [question, ...open] = asked?.open ?? []
    if (!asked || !question) return { answered: asked?.answered ?? [], ...defined({ state: asked?.state }) }
    if (state.type === 'question') call.report({ for: 'answer', since: state.since, expiresAt: state.expiresAt })
    const outcome = await waiting.waitForOutcome(waitingCall)
    call.report(undefined)
    const answer: QuestionAnswer =
      outcome.status === 'ok' ? (outcome.value as unknown as QuestionAnswer) : { action: 'cancel' }
    const { digest, key } = question
    const answered = [...asked.answered, { digest, ...defined({ key }), answer }]
    // Nothing is awaited in between: the next execution must not take this answer for that of the next question.
    waitingCall.asked = { ...asked, announced: Math.max(asked.announced, answered.length), open, answered }
    if (open.length > 0) beginQuestion(call, waitingCall)
  }
}
