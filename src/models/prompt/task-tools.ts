/*
 * The additions of each task mode to the prompt: the tools with which the model reports the state of its task, and
 * their guidance.
 */

import type { JsonObject } from '../../common/json/json.js'
import { executeCodeTool, giveUpTool, submitAnswerTool, submitPlanTool } from '../../common/names.js'
import { maxPlanSteps, type RecordedMode } from '../../common/agent/task-modes.js'
import { answerTool } from './answer-tool.js'
import type { ModelTool } from '../provider.js'

/** The additions of a mode to the prompt. */
interface TaskPrompt {
  /** Whether the model can run code and call tools. */
  readonly hasTools: boolean
  readonly taskTools: readonly ModelTool[]
  readonly guidance: string | undefined
}

/** JSON Schema of the input of `give_up`. */
export const giveUpSchema: JsonObject = {
  type: 'object',
  properties: { reason: { type: 'string', minLength: 1 } },
  required: ['reason'],
}

/** JSON Schema of the input of `submit_plan`. Activity `model.turn` checks the rules that it can't express. */
export const planSchema: JsonObject = {
  type: 'object',
  properties: {
    steps: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'A short name.' },
          task: {
            type: 'string',
            minLength: 1,
            maxLength: 4_000,
            description: 'What to do, and what the result must have.',
          },
          dependsOn: {
            type: 'array',
            items: { type: 'string' },
            description: 'The ids of the steps whose results this one needs. Default: none.',
          },
        },
        required: ['id', 'task'],
      },
    },
  },
  required: ['steps'],
}

const giveUp: ModelTool = {
  name: giveUpTool,
  description: 'Ends the task without a result. Use it when the task cannot be done.',
  inputSchema: giveUpSchema,
  inputExamples: [],
}

const submitPlan: ModelTool = {
  name: submitPlanTool,
  description: 'Submits the plan. The steps are then done one after the other, each after those that it depends on.',
  inputSchema: planSchema,
  inputExamples: [
    {
      steps: [
        { id: 'orders', task: 'List the open orders of each customer.', dependsOn: [] },
        { id: 'report', task: 'Name the customers that owe more than 100 EUR.', dependsOn: ['orders'] },
      ],
    },
  ],
}

/** Schema of the answer of autonomous work, when the agent has none. */
export const textAnswerSchema: JsonObject = { type: 'string', minLength: 1 }

/** @param outputSchema JSON Schema of the answer; undefined: the answer is text */
export function taskPrompt(mode: RecordedMode | undefined, outputSchema: JsonObject | undefined): TaskPrompt {
  const submitAnswer = outputSchema ? [answerTool(outputSchema)] : []
  switch (mode) {
    case undefined:
      return { hasTools: true, taskTools: submitAnswer, guidance: outputSchema && answerGuidance }
    case 'single-turn':
      return outputSchema
        ? { hasTools: false, taskTools: submitAnswer, guidance: singleAnswerGuidance }
        : { hasTools: true, taskTools: [], guidance: singleTurnGuidance }
    case 'autonomous': {
      const taskTools = [answerTool(outputSchema ?? textAnswerSchema), giveUp]
      return { hasTools: true, taskTools, guidance: autonomousGuidance }
    }
    case 'plan':
      return { hasTools: true, taskTools: [...submitAnswer, submitPlan, giveUp], guidance: planGuidance }
  }
}

const answerGuidance = `\
Deliver your final answer with ${submitAnswerTool}, alone in a reply, when you have the results of everything else. A text \
is not an answer.`

const singleAnswerGuidance = `\
You reply once. Deliver your answer with ${submitAnswerTool}. A text is not an answer.`

const singleTurnGuidance = `\
You reply once, and you do not see what your code prints or your calls return: their results are the answer, as they \
are. So print the answer itself, complete and readable. When you need neither code nor tools, reply with the answer.`

const giveUpGuidance = `call ${giveUpTool} with the reason. That is better than a result that is not true.`

const autonomousGuidance = `\
You work on your own until the task is done. Nobody reads your texts or answers questions, and a text does not end the \
work. When everything is done and you have checked it, call ${submitAnswerTool}, alone in a reply. When the task cannot \
be done, ${giveUpGuidance}`

const planGuidance = `\
First make a plan, and submit it with ${submitPlanTool}, alone in a reply: at most ${maxPlanSteps} steps, each with what it \
depends on. You may run code and call tools before, to find out what the plan needs. Then you are given one step after \
the other. Do only this step, and end it with a text that has its result; the steps that depend on it and your final \
answer get this text, and nothing else of what you saw. Keep large data in variables of ${executeCodeTool}, which all steps \
share. When a step or the whole task cannot be done, ${giveUpGuidance}`
