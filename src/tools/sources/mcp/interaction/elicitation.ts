import { z } from 'zod'
import { digestJson } from '../../../../common/calls/call-identity.js'
import { maxQuestionBytes, type ToolQuestion } from '../../../../common/calls/questions.js'
import { defined } from '../../../../common/defined.js'
import type { JsonObject } from '../../../../common/json/json.js'
import { sanitize } from '../../../../common/text/sanitize.js'
import { takeStart, truncateMiddle, utf8Length } from '../../../../common/text/text.js'

const maxMessageCharacters = 4_000
const maxTextCharacters = 500
const maxMembers = 50
const maxChoices = 200
const maxUrlCharacters = 2_000

/** A text that people read, without control characters. */
const shown = (characters: number) =>
  z
    .string()
    .transform((text) => sanitize(takeStart(text, characters)))
    .optional()
    .catch(undefined)

const choice = z.string().max(maxTextCharacters)
const choices = z.array(choice).min(1).max(maxChoices)
const titled = z
  .array(z.object({ const: choice, title: choice.transform(sanitize) }))
  .min(1)
  .max(maxChoices)
const count = z.int().min(0).optional().catch(undefined)
const common = { title: shown(maxTextCharacters), description: shown(maxTextCharacters) }

/** Only these keywords: a pattern may take hours to match, and a reference may be a bomb. */
const member = z.union([
  z.object({
    ...common,
    type: z.literal('string'),
    enum: choices,
    enumNames: z.array(choice.transform(sanitize)).max(maxChoices).optional(),
    default: choice.optional(),
  }),
  z.object({ ...common, type: z.literal('string'), oneOf: titled, default: choice.optional() }),
  z.object({
    ...common,
    type: z.literal('string'),
    minLength: count,
    maxLength: count,
    format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
    default: choice.optional(),
  }),
  z.object({
    ...common,
    type: z.enum(['number', 'integer']),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    default: z.number().optional(),
  }),
  z.object({ ...common, type: z.literal('boolean'), default: z.boolean().optional() }),
  z.object({
    ...common,
    type: z.literal('array'),
    minItems: count,
    maxItems: count,
    items: z.union([z.object({ type: z.literal('string'), enum: choices }), z.object({ anyOf: titled })]),
    default: z.array(choice).max(maxChoices).optional(),
  }),
])

const form = z.object({
  mode: z.literal('form').optional(),
  message: z.string(),
  requestedSchema: z.object({
    type: z.literal('object'),
    properties: z.record(z.string().min(1).max(maxTextCharacters), z.unknown()),
    required: z.array(z.string()).optional(),
  }),
})

const visit = z.object({
  mode: z.literal('url'),
  message: z.string(),
  url: z.url({ protocol: /^https?$/ }).max(maxUrlCharacters),
})

/** A question of a server, or why it is refused. */
export type ReadElicitation =
  | { readonly question: ToolQuestion }
  | { readonly question?: undefined; readonly problem: string }

/**
 * Reads the parameters of `elicitation/create`. What people will see is bounded, and has no control characters.
 *
 * @param from names the server
 */
export function readElicitation(from: string, params: unknown, key?: string): ReadElicitation {
  const url = visit.safeParse(params).data
  if (url) {
    // A server may make a new address for each attempt.
    const digest = digestJson(['url', url.message])
    return { question: { from, message: messageFor(url.message), url: url.url, digest, ...defined({ key }) } }
  }
  const { data } = form.safeParse(params)
  if (!data) return { problem: 'a question must be a form, or have an address of http or https' }
  const { properties, required } = data.requestedSchema
  const names = Object.keys(properties)
  if (names.length > maxMembers) return { problem: `a question may ask for ${maxMembers} members at most` }
  const members: Record<string, JsonObject> = {}
  for (const name of names) {
    const parsed = member.safeParse(properties[name]).data
    if (!parsed || name === '__proto__') return { problem: `a member of the question has no schema that MCP allows` }
    members[name] = defined(parsed) as JsonObject
  }
  const known = required?.filter((name) => Object.hasOwn(members, name))
  const schema: JsonObject = {
    type: 'object',
    properties: members,
    ...(known && known.length > 0 && { required: known }),
    additionalProperties: false,
  }
  const digest = digestJson(['form', data.message, schema])
  const question = { from, message: messageFor(data.message), schema, digest, ...defined({ key }) }
  const bytes = utf8Length(JSON.stringify(question))
  if (bytes > maxQuestionBytes) return { problem: `a question may have ${maxQuestionBytes} bytes at most` }
  return { question }
}

function messageFor(message: string): string {
  return sanitize(truncateMiddle(message, maxMessageCharacters))
}
