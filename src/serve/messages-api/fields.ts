import { truncateEnd } from '../../common/text/text.js'
import type { ApiMessage } from './blocks.js'
import { BadRequest } from './errors.js'

/*
 * The fields of a request that `request.ts` does not read. The API gets new fields over time. A field without effect on
 * the response is ignored, and the response names it; a field with an effect is refused by name
 * (invariant 3).
 */

/** Fields for caching, routing, billing and the identity of the user. */
const unused: readonly string[] = [
  'betas',
  'billing_policy',
  'cache_control',
  'diagnostics',
  'fallback_credit_token',
  'inference_geo',
  'metadata',
  'service_tier',
  'speed',
  'user_profile_id',
  'workspace_id',
]

const unsupported: readonly string[] = [
  'compaction',
  'context_management',
  'fallbacks',
  'mcp_servers',
  'top_k',
  'top_p',
]

const toolFields: readonly string[] = ['cache_control', 'defer_loading', 'eager_input_streaming']

/**
 * @param read the fields that `request.ts` reads
 * @throws BadRequest for fields that are unsupported or unknown
 */
export function checkFields(body: unknown, read: readonly string[]): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new BadRequest('the request must be an object')
  const given = Object.entries(body).filter(([, value]) => !isEmpty(value))
  // The SDKs then send the same request without a thread.
  if (given.some(([name]) => name === 'thread'))
    throw new BadRequest('thread: this server has no message threads; send all messages', {
      error_code: 'thread_unsupported_request',
      unsupported: ['thread'],
    })
  const [refused] = given.find(([name]) => unsupported.includes(name)) ?? []
  if (refused !== undefined) throw new BadRequest(`${refused}: this is not supported`)
  const [unknown] = given.find(([name]) => !read.includes(name) && !unused.includes(name)) ?? []
  if (unknown !== undefined)
    throw new BadRequest(`${truncateEnd(unknown, 200)}: this field is not known, and may change the response`)
}

/** Whether a value is absent or means the same as absent. */
function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}

/** The names of the ignored fields, for the client. */
export function ignoredFields({
  tools,
  ...request
}: {
  readonly tools?: readonly Readonly<Record<string, unknown>>[] | null | undefined
}): readonly string[] {
  const given = Object.entries(request).flatMap(([name, value]) =>
    isEmpty(value) || !unused.includes(name) ? [] : name,
  )
  const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== false
  const ofTools = toolFields.filter((name) => tools?.some((tool) => isGiven(tool[name])))
  return [...given, ...ofTools.map((name) => `tools.${name}`)]
}

/**
 * The names of thinking that is lost: a response has none, so that the messages of a client lack it. With a budget, a
 * model can't continue after tool uses without it, and does not think then. The conversation of a container has kept
 * it.
 */
export function ignoredThinking(
  thinking: { readonly type: string; readonly display?: unknown } | null | undefined,
  messages: readonly ApiMessage[],
  isPlain: boolean,
): readonly string[] {
  const replies = messages.filter(({ role }) => role === 'assistant')
  const isAfterUses = replies.at(-1)?.content.some(({ type }) => type === 'tool_use') ?? false
  const hasBlocks = replies.some(({ content }) => content.some(({ type }) => /^(?:redacted_)?thinking$/.test(type)))
  return [
    ...(isPlain && thinking?.type === 'enabled' && isAfterUses ? ['thinking'] : []),
    ...(isEmpty(thinking?.display ?? null) ? [] : ['thinking.display']),
    ...(hasBlocks ? ['messages.thinking'] : []),
  ]
}
