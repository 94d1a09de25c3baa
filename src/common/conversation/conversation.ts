/*
 * Conversations: the messages of workflow `conversation`, and their results. Times are milliseconds since 1970.
 */

import type { CompensationReport } from '../calls/compensation.js'
import { canonicalJson } from '../json/canonical-json.js'
import type { JsonObject, JsonValue } from '../json/json.js'
import { problemOfAttachments, type StoredAttachment } from './attachments.js'
import { problemOfUploads, type StoredFile } from '../files/files.js'
import { utf8Length } from '../text/text.js'
import type { PendingBlock } from '../agent/messages.js'
import type { AgentInput, AgentStatus, ClientOptions, RunCounts } from '../run/runs.js'
import type { ValueLog } from '../json/value-log.js'

/** A message in the format of the provider's API, as in {@link ConversationInput.messages}. */
export interface ProviderMessage {
  readonly role: 'user' | 'assistant'
  /** A text or content blocks of the provider. */
  readonly content: string | readonly JsonObject[]
}

/** Argument of workflow `conversation`. */
export interface ConversationInput extends Omit<AgentInput, 'question' | 'mode' | 'attachments'>, ClientOptions {
  readonly name: string
  /** Update id of the message that started the conversation. Its answer has `isNew: true`. */
  readonly startedByMessage: string
  /** Earlier messages, with which the conversation begins. */
  readonly messages?: readonly ProviderMessage[]
  /** Milliseconds without a message after which the conversation closes itself. Default: never. */
  readonly closeAfterMs?: number
}

/** Argument of update `send`. Its update id is the id of the message. */
export interface SendInput {
  /** The text of the message. Empty: `messages` end with the message of the user. */
  readonly text: string
  /** Images and PDFs. Absent: none. */
  readonly attachments?: readonly StoredAttachment[]
  /** Files for the code, from then on. Absent: none. */
  readonly files?: readonly StoredFile[]
  /** While the conversation works on a message: the model reads this one with its next turn. Default: it is queued. */
  readonly steer?: boolean
  /** Messages that replace all earlier messages. Not together with `steer`. Default: the earlier messages stay. */
  readonly messages?: readonly ProviderMessage[]
  /** The expected agent. The conversation refuses the message if it has another agent. */
  readonly agent?: string
  readonly session?: string
  readonly context?: JsonObject
}

/** The result of the work on a message. */
export type MessageStatus =
  | AgentStatus
  /** A client interrupted it. */
  | 'interrupted'
  /** The engine failed: `error` has the reason. The conversation continues. */
  | 'failed'

/** The answer to one message, or to several messages that were sent during the work on the first one. */
export interface ConversationAnswer {
  readonly status: MessageStatus
  readonly answer: string
  /** Set only for an agent with an output schema that ended with `answered`. */
  readonly output?: JsonValue
  /** Set only with `failed`: the code of an error, or of a failure of Temporal. */
  readonly error?: { readonly code: string; readonly message: string }
  /**
   * True when the model never saw the message, or declined it: the conversation is unchanged, and the message can be
   * sent again.
   */
  readonly isTakenBack: boolean
  /** Absent: no call of the message was compensated. */
  readonly compensation?: CompensationReport
  /** Number of the message, from 1. */
  readonly message: number
  /** Number of the message that this message joined, because it was sent with `steer`. Both have the same answer. */
  readonly joined?: number
  /** Counts of this message. */
  readonly turns: number
  readonly cells: number
  readonly toolCalls: number
  /** True when the message started the conversation. */
  readonly isNew: boolean
}

/** Result of the updates `send` and `answer`. */
export type AnswerResult =
  | { readonly type: 'answered'; readonly answer: ConversationAnswer }
  /** The conversation continues as new: the client must ask the next execution. */
  | { readonly type: 'continues' }

/** Argument of update `answer`. */
export interface AnswerRequest {
  /** Update id of the message. */
  readonly id: string
}

/** Argument of signal `interrupt`. */
export interface InterruptConversationInput {
  /**
   * `code`: interrupts the code, as Ctrl-C does, and the model continues with the output. `message`: interrupts all
   * work on the current message.
   */
  readonly what: 'code' | 'message'
}

/** Argument of update `reset`. */
export interface ResetInput {
  /** The messages that replace all earlier ones. */
  readonly messages: readonly ProviderMessage[]
}

/** Result of query `status`. */
export interface ConversationStatus extends RunCounts {
  /** `waiting`: the conversation waits for a message. */
  readonly state: 'working' | 'waiting' | 'closing'
  /** Number of accepted messages. */
  readonly messages: number
  /** Number of messages that wait. */
  readonly queued: number
  /** Id of the message in progress, or of the next one; null when none waits. */
  readonly message: string | null
  /** Number of calls that wait for an approval, or for a result from outside. */
  readonly waitingCalls: number
  /** Tokens that the last turn read and wrote; null before the first. */
  readonly contextTokens: number | null
  /** Tokens of the model's context window; null when it is unknown. */
  readonly contextWindow: number | null
  readonly createdAt: number
  /** Time of the last answer, or of the start of the conversation. */
  readonly lastUsedAt: number
}

/** Result of query `history`: the messages in the value store, and the blocks that follow them. */
export interface ConversationHistory {
  readonly history: ValueLog | null
  readonly pending: readonly PendingBlock[]
}

/** Result of workflow `conversation`. */
export interface ConversationResult extends RunCounts {
  readonly messages: number
}

/** Maximum number of messages that wait for an answer. One more is refused. */
export const maxQueuedMessages = 100

/** Maximum bytes of the text of one message. */
const maxMessageBytes = 500_000

/** Returns why a conversation refuses this text; undefined when it accepts it. */
export function problemOfMessage(text: string): { readonly message: string; readonly hint?: string } | undefined {
  if (typeof text !== 'string' || text.trim() === '') return { message: 'the message is empty' }
  const bytes = utf8Length(text)
  if (bytes <= maxMessageBytes) return undefined
  const message = `the message has ${bytes} bytes; at most ${maxMessageBytes} are allowed`
  return { message, hint: 'Give large data through a tool.' }
}

/** Returns whether the last message is from the user, so that a model can answer the messages. */
export function endsWithUser(messages: readonly ProviderMessage[] | undefined): boolean {
  return messages?.at(-1)?.role === 'user'
}

/**
 * Returns why a conversation refuses a message; undefined when it accepts it. A message may come from another client.
 */
export function problemOfSend(message: SendInput, begun: ConversationInput): string | undefined {
  const { text, attachments, files, steer = false, messages, context, agent, session } = message
  if (messages !== undefined && !Array.isArray(messages)) return 'the messages must be a list'
  const hasOwnText = text !== '' || !endsWithUser(messages)
  const problem = (hasOwnText ? problemOfMessage(text)?.message : undefined) ?? problemOfAttachments(attachments)
  if (problem !== undefined) return problem
  const problemOfFiles = files === undefined ? undefined : problemOfUploads(files, Infinity)
  if (problemOfFiles !== undefined) return problemOfFiles
  if (messages !== undefined && steer) return 'a message that steers replaces no messages'
  const { name } = begun
  if (context !== undefined && canonicalJson(context) !== canonicalJson(begun.context ?? {}))
    return `conversation ${name} was started with another context`
  if (agent !== undefined && agent !== begun.agent) return `conversation ${name} was not started with agent ${agent}`
  if (session !== undefined && session !== begun.session) return `conversation ${name} is not in session ${session}`
  return undefined
}
