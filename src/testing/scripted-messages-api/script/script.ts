import { z } from 'zod'
import { PtcError } from '../../../common/errors.js'
import type { JsonObject } from '../../../common/json/json.js'
import { faultSchema, type ScriptedFault } from './faults.js'
import { unknownPlaceholders } from './template.js'

/** Condition on a text. A plain string must occur in it. */
export type TextMatch =
  | string
  | { readonly equals: string }
  | { readonly includes: string }
  /** A regular expression, unanchored. */
  | { readonly pattern: string }

/** All given conditions must hold. */
export interface TurnMatch {
  /** Number of assistant messages in the conversation so far. */
  readonly assistantMessages?: number
  /** Text of the last message. A message with only tool results has no text. */
  readonly lastUserText?: TextMatch
  /** Text of the last tool result of the last message. */
  readonly lastToolResult?: TextMatch
}

interface ScriptedText {
  readonly type: 'text'
  readonly text: string
}

/** A tool call. `partial_json` is sent unchanged, so arguments can be invalid or truncated. */
export type ScriptedToolUse = {
  readonly type: 'tool_use'
  readonly name: string
  readonly id?: string
  /**
   * The code that made the call, if the API executes it: `tool_id` is the id of its `server_tool_use`. Default:
   * `direct`.
   */
  readonly caller?: { readonly type: string; readonly tool_id?: string }
} & ({ readonly input: JsonObject } | { readonly partial_json: string })

/** Any other block, sent unchanged. Requests may then contain its `type` too. */
interface ScriptedRawBlock extends JsonObject {
  readonly type: string
}

/**
 * A block of a reply. Its strings may hold placeholders: `{{last_tool_result}}`, `{{last_tool_use_id}}`,
 * `{{first_user_text}}`, `{{last_user_text}}`.
 */
export type ScriptedBlock = ScriptedText | ScriptedToolUse | ScriptedRawBlock

/** A reply of the model. */
export interface ScriptedReply {
  readonly content: readonly ScriptedBlock[]
  /** Default: `tool_use` when there is such a block, else `end_turn`. */
  readonly stop_reason?: string
  readonly stop_sequence?: string | null
  readonly stop_details?: JsonObject | null
  /**
   * The container of the code. The server refuses it in requests after `expires_at`; default: five minutes after the
   * reply.
   */
  readonly container?: JsonObject | null
  /** The edits that the API has applied: `{ applied_edits: [...] }`. Default: none. */
  readonly context_management?: JsonObject
  /** Overrides single fields of the counted usage. */
  readonly usage?: JsonObject
}

/** One turn of the model. */
export interface ScriptedTurn {
  readonly reply: ScriptedReply
  /**
   * A turn with conditions is used whenever they hold. A turn without conditions is used by its position among such
   * turns.
   */
  readonly match?: TurnMatch
  readonly faults?: readonly ScriptedFault[]
  /** Milliseconds to wait before each event of a stream. */
  readonly msPerChunk?: number
}

export interface ScriptedConversation {
  /** Selects conversations by the text of their first user message. Absent: all that no other entry selects. */
  readonly match?: { readonly firstUserText: TextMatch }
  readonly turns: readonly ScriptedTurn[]
}

/** The replies of the model, as JSON data. An array of turns is used for every conversation. */
export type Script = readonly ScriptedTurn[] | { readonly conversations: readonly ScriptedConversation[] }

const textMatch = z.union([
  z.string().min(1),
  z.strictObject({ equals: z.string() }),
  z.strictObject({ includes: z.string().min(1) }),
  z.strictObject({ pattern: z.string().refine(isPattern, { error: 'is not a regular expression' }) }),
])

const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,200}$/)
const toolUseBase = {
  type: z.literal('tool_use'),
  name: toolName,
  id: z
    .string()
    .regex(/^[a-zA-Z0-9_-]+$/)
    .optional(),
  caller: z.strictObject({ type: z.string(), tool_id: z.string().optional() }).optional(),
}

const textBlock = z.strictObject({ type: z.literal('text'), text: z.string() }).superRefine(({ text }, context) => {
  for (const name of unknownPlaceholders(text)) {
    context.addIssue({ code: 'custom', path: ['text'], message: `there is no placeholder {{${name}}}` })
  }
})

/** Text and tool calls are checked strictly. Any other block must be a JSON object with a type. */
const block = z.looseObject({ type: z.string().min(1) }).superRefine((value, context) => {
  const schema = strictSchemaOf(value)
  for (const issue of schema.safeParse(value).error?.issues ?? []) {
    context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message })
  }
})

function strictSchemaOf(value: { readonly type: string; readonly [key: string]: unknown }): z.ZodType {
  if (value.type === 'text') return textBlock
  if (value.type !== 'tool_use') return z.record(z.string(), z.json())
  return 'partial_json' in value
    ? z.strictObject({ ...toolUseBase, partial_json: z.string() })
    : z.strictObject({ ...toolUseBase, input: z.record(z.string(), z.json()) })
}

const jsonObject = z.record(z.string(), z.json())

const turn = z.strictObject({
  reply: z.strictObject({
    content: z.array(block),
    stop_reason: z.string().min(1).optional(),
    stop_sequence: z.string().nullish(),
    stop_details: jsonObject.nullish(),
    container: z.looseObject({ id: z.string().min(1), expires_at: z.string().optional() }).nullish(),
    context_management: jsonObject.optional(),
    usage: jsonObject.optional(),
  }),
  match: z
    .strictObject({
      assistantMessages: z.int().min(0).optional(),
      lastUserText: textMatch.optional(),
      lastToolResult: textMatch.optional(),
    })
    .refine((match) => Object.keys(match).length > 0, { error: 'needs at least one condition' })
    .optional(),
  faults: z.array(faultSchema).optional(),
  msPerChunk: z.number().min(0).max(60_000).optional(),
})

const turns = z.array(turn).min(1)

const conversation = z.strictObject({ match: z.strictObject({ firstUserText: textMatch }).optional(), turns })

const conversations = z
  .array(conversation)
  .min(1)
  .refine((all) => all.filter(({ match }) => match === undefined).length <= 1, {
    error: 'only one conversation can be without match',
  })

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/**
 * Checks a script and returns its conversations.
 *
 * @throws PtcError CONFIG_INVALID that names each invalid position
 */
export function parseScript(script: unknown): readonly ScriptedConversation[] {
  const parsed = Array.isArray(script) ? turns.safeParse(script) : z.strictObject({ conversations }).safeParse(script)
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${pathText(path)}: ${message}`)
    throw new PtcError('CONFIG_INVALID', `the script of the Messages API server is wrong at ${problems.join('; ')}`, {
      hint: 'A script is an array of turns, or { conversations: [{ match, turns }] }.',
    })
  }
  // The schema has checked the shape of Script.
  const checked = parsed.data as unknown as Script
  return 'conversations' in checked ? checked.conversations : [{ turns: checked }]
}

function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return `script${text}`
}

export function isScriptedText(scripted: ScriptedBlock): scripted is ScriptedText {
  return scripted.type === 'text'
}

export function isScriptedToolUse(scripted: ScriptedBlock): scripted is ScriptedToolUse {
  return scripted.type === 'tool_use'
}
