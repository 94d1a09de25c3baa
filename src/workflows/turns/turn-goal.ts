import { giveUpTool, submitAnswerTool, submitPlanTool } from '../../common/names.js'
import type { SubmittedAnswer } from '../../common/agent/model-turn.js'
import type { RunConfig } from '../../common/run/run-config.js'
import type { AgentStatus } from '../../common/run/runs.js'

/** A part of a task. Modes other than `plan` have only the last part. */
export type TurnStage =
  | { readonly type: 'plan' }
  | { readonly type: 'step'; readonly id: string }
  | { readonly type: 'answer' }

/** The result with which the model must end its turns. */
interface TurnGoal {
  /** Prompt after a text in place of a submission. Undefined: a text ends the turns. */
  readonly promptAfterText: string | undefined
  /** Maximum number of invalid texts and submissions. Then the turns end. */
  readonly attempts: number
  /** The status of this end, after a text and after a submission. */
  readonly failure: { readonly text: AgentStatus; readonly submission: AgentStatus }
  /** Returns for the model why a submission can't end these turns; undefined when it can. */
  readonly refuse: (submitted: SubmittedAnswer) => string | undefined
}

/** Texts and submissions that are not the goal. A model that has failed three times in a row fails again. */
const answerAttempts = 3

export function turnGoal({ mode, outputSchema }: Pick<RunConfig, 'mode' | 'outputSchema'>, stage: TurnStage): TurnGoal {
  const attempts = mode === 'single-turn' ? 1 : answerAttempts
  const answer: TurnGoal = {
    promptAfterText: outputSchema === undefined ? undefined : promptForAnswer,
    attempts,
    failure: { text: 'invalid_answer', submission: 'invalid_answer' },
    refuse: ({ type }) => (type === 'plan' ? 'The steps have ended. Give your final answer.' : undefined),
  }
  if (mode === 'autonomous')
    return { ...answer, promptAfterText: promptToGoOn, failure: { text: 'no_answer', submission: 'invalid_answer' } }
  switch (stage.type) {
    case 'answer':
      return answer
    case 'step':
      return {
        ...answer,
        promptAfterText: undefined,
        refuse: ({ type }) =>
          type === 'plan' || type === 'valid' ? 'Do the step that you were given, and end it with a text.' : undefined,
      }
    case 'plan':
      return {
        ...answer,
        promptAfterText: promptForPlan,
        failure: { text: 'invalid_plan', submission: 'invalid_plan' },
        refuse: ({ type }) => (type === 'valid' ? promptForPlan : undefined),
      }
  }
}

/** Returns the submission, or an invalid one when it can't end the turns. */
export function acceptSubmission(
  { refuse }: TurnGoal,
  submitted: SubmittedAnswer | undefined,
): SubmittedAnswer | undefined {
  const problem = submitted && refuse(submitted)
  return problem === undefined ? submitted : { type: 'invalid', problem }
}

const promptForAnswer = `Deliver your answer with ${submitAnswerTool}: a text is not an answer.`

const promptToGoOn =
  `Nobody reads this text, and the task has not ended. Go on. When it is done, call ${submitAnswerTool}; ` +
  `when it cannot be done, call ${giveUpTool}.`

const promptForPlan = `Submit your plan with ${submitPlanTool} first: a text is not a plan.`
