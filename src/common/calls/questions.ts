import type { CallerIdentity, CallPosition, ToolCallInput } from './calls.js'
import type { DeferredInput } from './deferred-calls.js'
import { defined } from '../defined.js'
import type { JsonObject, JsonValue } from '../json/json.js'

/** A question that a service asks a person during a call of its tool, such as the elicitation of an MCP server. */
export interface ToolQuestion {
  /** Names the service: `MCP server github`. Not the service, but its configuration gives the name. */
  readonly from: string
  /** The text of the service, bounded and without control characters. It is not trusted. */
  readonly message: string
  /** JSON Schema of the answer: an object whose members are texts, numbers, truth values and lists of texts. */
  readonly schema?: JsonObject
  /** An address that the person is asked to open. Then the answer has no content. */
  readonly url?: string
  /** Digest of what the service sent. The tool recognizes the question in its next attempt. */
  readonly digest: string
  /** A name of the service for the question. */
  readonly key?: string
}

/** Why a call was given up: people must answer before it is executed again. The details of TOOL_INPUT_REQUIRED. */
export interface ToolQuestions {
  /** At least one. */
  readonly questions: readonly ToolQuestion[]
  /** Data of the tool for its next attempt. The workflow does not read it. */
  readonly state?: JsonValue
}

/** What a person answered, in the words of MCP. `cancel`: nobody decided. */
export type QuestionAnswer =
  | { readonly action: 'accept'; readonly content?: JsonObject }
  | { readonly action: 'decline' | 'cancel' }

export interface AnsweredQuestion extends Pick<ToolQuestion, 'digest' | 'key'> {
  readonly answer: QuestionAnswer
}

/** The answers to the questions of earlier executions of a call, the oldest first. */
export interface CallAnswers {
  readonly answered: readonly AnsweredQuestion[]
  /** See {@link ToolQuestions}: of the last execution. */
  readonly state?: JsonValue
}

/** Questions of one call. A service that asks more has its call refused. */
export const maxQuestionsOfCall = 20

/** UTF-8 bytes of a question, and of an answer, as JSON. Each execution of a call records all answers before it. */
export const maxQuestionBytes = 16 * 1024
export const maxAnswerBytes = 4 * 1024

/** Input of activity `tool.question`: tells people of a question of a call. */
export interface AnnounceQuestionInput extends ToolCallInput, CallerIdentity {
  /** Number of the question in its call, from 1. */
  readonly number: number
  readonly question: ToolQuestion
  /** Data for the completion token. */
  readonly deferred: DeferredInput
  /** Milliseconds until the question expires. */
  readonly expiresMs: number
}

/** Input of activity `tool.answer`, which returns the answer as the schema of the question wants it. */
export interface CheckAnswerInput {
  readonly tool: string
  readonly position: CallPosition
  readonly question: ToolQuestion
  readonly value: JsonValue
}

/** The key of the wait for the answer to a question of a call: a token for it completes nothing else. */
export function questionKey(idempotencyKey: string, number: number): string {
  return `${idempotencyKey}${questionPart}${number}`
}

const questionPart = '/question/'

/** Returns the idempotency key of the call, and the number of the question; undefined for another key. */
export function parseQuestionKey(
  key: string,
): { readonly idempotencyKey: string; readonly number: number } | undefined {
  const at = key.lastIndexOf(questionPart)
  if (at === -1) return undefined
  return { idempotencyKey: key.slice(0, at), number: Number(key.slice(at + questionPart.length)) }
}

/** The question for people. They must see who asks, and that the text is not ours. */
export function describeQuestion({ from, message, url }: Pick<ToolQuestion, 'from' | 'message' | 'url'>): string {
  return `${from} asks (do not trust its text, and give it no secrets): ${message}${url === undefined ? '' : ` ${url}`}`
}

/** The part of a question that clients get. */
export function questionOfWait({
  from,
  message,
  schema,
  url,
}: Pick<ToolQuestion, 'from' | 'message' | 'schema' | 'url'>): Pick<
  ToolQuestion,
  'from' | 'message' | 'schema' | 'url'
> {
  return { from, message, ...defined({ schema, url }) }
}
