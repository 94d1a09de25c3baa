import { canonicalJson } from '../../common/canonical-json.js'
import type { JsonValue } from '../../common/json.js'
import { cacheControlOf } from './block-schema.js'
import { isTextBlock, isToolResult, type PromptRequest, type RequestBlock } from './request-schema.js'

/** Characters of one token: near what Claude's tokenizers make of English, code and JSON. */
export const charactersPerToken = 3.5

/** What one image counts as, whatever its size. */
const imageTokens = 1_600

/** A piece of the prompt that prompt caching can end at, in the order the model reads: tools, system, messages. */
export interface Segment {
  /** Same text, same prefix. */
  readonly text: string
  readonly characters: number
  /** Seconds the cache keeps the prompt up to here; null where no `cache_control` is set. */
  readonly cacheSeconds: number | null
}

/** Tokens of so many characters: the one approximation behind usage, `count_tokens` and `max_tokens`. */
export function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersPerToken)
}

/** Input tokens of a request, the same for `usage` and for `count_tokens`. */
export function countTokens(request: PromptRequest): number {
  return tokensOf(segmentsOf(request).reduce((sum, { characters }) => sum + characters, 0))
}

/** The prompt in pieces. `cache_control` itself counts nothing and changes no prefix. */
export function segmentsOf(request: PromptRequest): readonly Segment[] {
  const { tools = [], system = [], messages } = request
  const segments = [
    ...tools.map((tool) => segment(json(tool), cacheControlOf(tool))),
    ...system.map((block) => segment(block.text, block.cache_control)),
    ...messages.flatMap(({ role, content }) =>
      content.map((block) => segment(`${role}: ${textOf(block)}`, markOf(block), extraCharacters(block))),
    ),
  ]
  const last = segments.at(-1)
  // A top-level cache_control marks the last block.
  const marked = cacheControlOf(request) !== undefined && last !== undefined
  return marked ? [...segments.slice(0, -1), { ...last, cacheSeconds: seconds(request.cache_control) }] : segments
}

function segment(text: string, cacheControl: unknown, extra = 0): Segment {
  return { text, characters: text.length + extra, cacheSeconds: seconds(cacheControl) }
}

function seconds(cacheControl: unknown): number | null {
  if (typeof cacheControl !== 'object' || cacheControl === null) return null
  return 'ttl' in cacheControl && cacheControl.ttl === '1h' ? 3_600 : 300
}

/** A block's own mark, or that of what a tool result holds. */
function markOf(block: RequestBlock): unknown {
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
  // A parsed request is JSON; canonical, so that a client's key order changes no prefix.
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
