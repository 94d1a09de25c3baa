/*
 * What a server asks for during one call of its tools: questions to people, by elicitation, and replies of the model,
 * by sampling.
 *
 * Owns: the answers that people have given to earlier executions of the call, and the questions that have none.
 * Boundary: the run asks people, and executes the call again (`src/workflows/calls/people/asking-call.ts`). Nothing here
 * waits for a person. The run asks its model, too, while the call goes on (`src/workflows/calls/sampling.ts`).
 * `interactive-connection.ts` says which call a request of a server belongs to.
 *
 * Invariants:
 * 1. A question gets only an answer that a person gave to the same question: the same text, and the same schema.
 *    Answers are used in their order. Any other question is cancelled, and asked anew.
 * 2. A call asks at most `maxQuestionsOfCall` questions. Then it is refused.
 * 3. Questions are bounded and without control characters before they leave the process (`elicitation.ts`). Requests
 *    for replies are bounded and well-formed (`sampling.ts`).
 */
import type { CreateMessageResult, ElicitResult } from '@modelcontextprotocol/client'
import {
  type AnsweredQuestion,
  type CallAnswers,
  maxQuestionsOfCall,
  type QuestionAnswer,
  type ToolQuestion,
} from '../../../../common/calls/questions.js'
import type { JsonValue } from '../../../../common/json/json.js'
import type { Sample } from '../../../../common/calls/sampling.js'
import { pluralize } from '../../../../common/text/text.js'
import { InputRequiredError } from '../../../input-required-error.js'
import { ToolError } from '../../../tool-error.js'
import { readElicitation } from './elicitation.js'
import { readSampling, toSamplingResult } from './sampling.js'

/** What a call may ask for. */
export interface CallInteractionOptions {
  readonly answers: CallAnswers
  /** Undefined: no replies of a model. */
  readonly sample: Sample | undefined
  /** Of the call. */
  readonly signal: AbortSignal
}

export class CallInteraction {
  readonly #from: string
  readonly #answers: readonly AnsweredQuestion[]
  readonly #sample: Sample | undefined
  readonly #signal: AbortSignal
  #used = 0
  #question: ToolQuestion | undefined
  #asked: () => void = () => undefined

  /** @param from names the server */
  constructor(from: string, { answers, sample, signal }: CallInteractionOptions) {
    this.#from = from
    this.#answers = answers.answered
    this.#sample = sample
    this.#signal = signal
  }

  /** Resolves when the server has asked a question that has no answer. Called once. */
  readonly hasAsked = new Promise<void>((resolve) => {
    this.#asked = resolve
  })

  /**
   * Answers a request of the server.
   *
   * @throws Error for a question that people must not see
   */
  elicit(params: unknown): ElicitResult {
    const { question, ...refused } = readElicitation(this.#from, params)
    if (!question) throw new Error('problem' in refused ? refused.problem : 'the question is refused')
    if (this.#question) return cancelled
    const known = this.#answers[this.#used]
    if (known?.digest === question.digest) {
      this.#used += 1
      return toResult(known.answer) // invariant 1
    }
    this.#question = question
    this.#asked()
    return cancelled
  }

  /**
   * Returns a reply of the model for a request of the server.
   *
   * @throws Error that says why there is none
   */
  async sample(params: unknown): Promise<CreateMessageResult> {
    if (!this.#sample) throw new Error('this call gets no reply of a model')
    return toSamplingResult(await this.#sample(readSampling(params), this.#signal))
  }

  /**
   * Gives the call up when the server has asked.
   *
   * @throws InputRequiredError, ToolError past the limit
   */
  throwIfAsked(): void {
    if (this.#question) throw inputRequired(this.#from, [this.#question], this.#answers)
  }
}

const cancelled: ElicitResult = { action: 'cancel' }

export function toResult(answer: QuestionAnswer): ElicitResult {
  if (answer.action !== 'accept') return { action: answer.action }
  return { action: 'accept', ...(answer.content && { content: answer.content as Record<string, string> }) }
}

/** Returns the error that gives a call up until people have answered. */
export function inputRequired(
  from: string,
  questions: readonly ToolQuestion[],
  answered: readonly AnsweredQuestion[],
  state?: JsonValue,
): Error {
  // Invariant 2.
  if (answered.length + questions.length > maxQuestionsOfCall)
    return new ToolError(`${from} asks more than ${pluralize(maxQuestionsOfCall, 'question')} in one call`)
  return new InputRequiredError({ questions, ...(state !== undefined && { state }) })
}
