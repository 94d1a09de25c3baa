import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import { problemOfClientOptions } from '../../config/run/client-options.js'
import {
  type ConversationInput,
  endsWithUser,
  problemOfMessage,
  type ProviderMessage,
} from '../../common/conversation/conversation.js'
import { truncateEnd } from '../../common/text/text.js'
import { checkInput, checkKeys } from '../start/check-input.js'
import { checkName } from '../start/check-name.js'

/**
 * Options of a new conversation. A conversation that has begun refuses a message with another `agent`, `session` or
 * `context`.
 */
export interface ConversationOptions extends Readonly<Omit<ConversationInput, 'name' | 'startedByMessage' | 'files'>> {
  /** When true, the request fails if the conversation does not exist. By default, it starts the conversation. */
  readonly mustExist?: boolean
}

const optionNames = [
  'agent',
  'model',
  'temperature',
  'thinking',
  'effort',
  'sandbox',
  'language',
  'session',
  'activeSkills',
  'limits',
  'network',
  'budget',
  'tools',
  'context',
  'input',
  'clientTools',
  'instructions',
  'maxTokens',
  'outputSchema',
  'toolChoice',
  'stopSequences',
  'isPlain',
  'closeAfterMs',
  'messages',
  'mustExist',
] as const satisfies readonly (keyof ConversationOptions)[]

/** @throws PtcError RUN_INPUT_INVALID */
export function checkConversationOptions(options: ConversationOptions): void {
  checkKeys('the options', options, optionNames)
  const { messages, closeAfterMs = 1, mustExist: _, ...input } = options
  if (!Number.isSafeInteger(closeAfterMs) || closeAfterMs < 1)
    throw new PtcError('RUN_INPUT_INVALID', 'closeAfterMs: it must be a number of milliseconds above 0')
  checkInput('conversation', input)
  const problem = problemOfClientOptions(input)
  if (problem !== undefined) throw new PtcError('RUN_INPUT_INVALID', problem)
  if (messages) parseMessages(messages)
}

/** Maximum number of blocks of one message. */
const maxBlocks = 10_000

const block = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string',
  'no content block: an object with a type',
)

/** The number of blocks is checked before the blocks. */
const blocks = z.array(z.unknown()).max(maxBlocks).pipe(z.array(block))

const messageSchema = z.strictObject({
  role: z.enum(['user', 'assistant']),
  content: z.union([z.string(), blocks]),
})

/**
 * Parses the given messages. Checks their shape, and that the next message of a person can follow.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function parseMessages(value: unknown): readonly ProviderMessage[] {
  const messages = parseShape(value)
  const last = messages.at(-1)
  if (last && last.role !== 'assistant')
    throw new PtcError('RUN_INPUT_INVALID', 'the last of the messages is not of the assistant', {
      hint: 'Send the last message of the user to the conversation.',
    })
  const uses = last && typeof last.content !== 'string' && last.content.some(({ type }) => type === 'tool_use')
  if (uses === true)
    throw new PtcError('RUN_INPUT_INVALID', 'the last of the messages has a tool_use without its result')
  return messages
}

function parseShape(value: unknown): readonly ProviderMessage[] {
  if (!Array.isArray(value)) throw new PtcError('RUN_INPUT_INVALID', 'the messages are not valid: not an array')
  return value.map((each: unknown, index) => {
    // The messages are checked one by one, and the check ends at the first error.
    const { error, data } = messageSchema.safeParse(each)
    if (!error) return data
    const problem = truncateEnd(z.prettifyError({ issues: error.issues.slice(0, 10) }), 2_000)
    throw new PtcError('RUN_INPUT_INVALID', `message ${index + 1} is not valid:\n${problem}`)
  })
}

/**
 * Checks a message and the messages that replace the earlier ones. A message without a text is the last of `messages`.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function checkMessage(text: string, messages: readonly ProviderMessage[] | undefined): void {
  if (text === '' && endsWithUser(messages)) return void parseShape(messages)
  if (messages) parseMessages(messages)
  checkText(text)
}

/** @throws PtcError RUN_INPUT_INVALID */
export function checkText(text: string): void {
  const problem = problemOfMessage(text)
  if (problem) throw new PtcError('RUN_INPUT_INVALID', problem.message, problem)
}

/**
 * Returns the id of the workflow of a conversation. It contains the task queue, as for a session.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function conversationWorkflowId(taskQueue: string, name: string): string {
  checkName('conversation', name)
  return `conversation:${taskQueue}:${name}`
}
