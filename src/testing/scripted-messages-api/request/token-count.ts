import { canonicalJson } from '../../../common/json/canonical-json.js'
import type { JsonValue } from '../../../common/json/json.js'
import { cacheControlOf } from './block-schema.js'
import { isTextBlock, isToolResult, type PromptRequest, type RequestBlock } from './request-schema.js'

/** Characters per token, close to Claude's tokenizers for English, code and JSON. */
export const charactersPerToken = 3.5

/** Tokens of an image of any size. */
const imageTokens = 1_600

/** A piece of the prompt at which a cached prefix can end. Order: tools, system, messages. */
interface PromptSegment {
  /** Pieces with the same text have the same prefix. */
  readonly text: string
  readonly characters: number
  /** Cache lifetime in seconds of the prompt up to here; null without `cache_control`. */
  readonly cacheSeconds: number | null
}

/** Approximates the tokens of a text, for usage, `count_tokens` and `max_tokens`. */
export function tokensForCharacters(characters: number): number {
  return Math.ceil(characters / charactersPerToken)
}

/** Counts the input tokens of a request, for `usage` and `count_tokens`. */
export function countTokens(request: PromptRequest): number {
  return tokensForCharacters(promptSegments(request).reduce((sum, { characters }) => sum + characters, 0))
}

/** Splits the prompt into pieces. `cache_control` counts no tokens and changes no prefix. */
export function promptSegments(request: PromptRequest): readonly PromptSegment[] {
  const { tools = [], system = [], messages } = request
  // Deferred tools are not part of the prompt until a search has found them.
  const [deferred, present] = [tools.filter(isDeferred), tools.filter((tool) => !isDeferred(tool))]
  const segments = [
    ...present.map((tool) => segment(json(tool), cacheControlOf(tool))),
    ...system.map((block) => segment(block.text, block.cache_control)),
    ...messages.flatMap(({ role, content }) =>
      content.map((block) => {
        const found = deferred.filter((tool) => referencesOf(block).includes(String(tool['name'])))
        const extra = extraCharacters(block) + found.reduce((sum, tool) => sum + json(tool).length, 0)
        return segment(`${role}: ${textOf(block)}`, cacheControlOfBlock(block), extra)
      }),
    ),
  ]
  const last = segments.at(-1)
  // A top-level cache_control marks the last block.
  const marked = cacheControlOf(request) !== undefined && last !== undefined
  return marked ? [...segments.slice(0, -1), { ...last, cacheSeconds: seconds(request.cache_control) }] : segments
}

function isDeferred(tool: Readonly<Record<string, unknown>>): boolean {
  return tool['defer_loading'] === true
}

/** The names of the tools that a search of the API has found. */
export function referencesOf({ type, ...block }: RequestBlock): readonly string[] {
  if (type !== 'tool_search_tool_result') return []
  const { content } = block as { readonly content?: { readonly tool_references?: readonly object[] } }
  return (content?.tool_references ?? []).map((reference) =>
    'tool_name' in reference ? String(reference.tool_name) : '',
  )
}

function segment(text: string, cacheControl: unknown, extra = 0): PromptSegment {
  return { text, characters: text.length + extra, cacheSeconds: seconds(cacheControl) }
}

function seconds(cacheControl: unknown): number | null {
  if (typeof cacheControl !== 'object' || cacheControl === null) return null
  return 'ttl' in cacheControl && cacheControl.ttl === '1h' ? 3_600 : 300
}

/** The mark of a block, or of the content of a tool result. */
function cacheControlOfBlock(block: RequestBlock): unknown {
  const nested = isToolResult(block) ? (block.content ?? []) : []
  return [block, ...nested].map(cacheControlOf).find((mark) => mark !== undefined)
}

function textOf(block: RequestBlock): string {
  if (isTextBlock(block)) return block.text
  if (block.type === 'image') return 'image'
  return json(block)
}

function extraCharacters(block: RequestBlock): number {
  return block.type === 'image' ? imageTokens * charactersPerToken : 0
}

function json(value: object): string {
  // Canonical JSON: the client's key order must not change the prefix.
  return canonicalJson(withoutCacheControl(value) as JsonValue)
}

/** A copy without any `cache_control` and without undefined members. */
export function withoutCacheControl(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCacheControl)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => key !== 'cache_control' && member !== undefined)
      .map(([key, member]) => [key, withoutCacheControl(member)]),
  )
}
