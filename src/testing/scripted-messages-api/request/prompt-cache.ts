import { createHash } from 'node:crypto'
import type { PromptRequest } from './request-schema.js'
import { promptSegments, tokensForCharacters } from './token-count.js'

/** Input tokens of a request, split as `usage` reports them. */
export interface InputUsage {
  /** Tokens neither read from nor written to the cache. */
  readonly uncached: number
  readonly cacheRead: number
  readonly written5m: number
  readonly written1h: number
}

interface Boundary {
  readonly key: string
  readonly tokens: number
  readonly cacheSeconds: number | null
}

/** Number of boundaries before a mark at which the API looks for a cached prefix. */
const lookbackBoundaries = 20

/**
 * Prompt caching as the API documents it. The prompt up to each `cache_control` is cached for five minutes or an hour,
 * renewed when it is read. A later request reads the longest cached prefix of its prompt. Prefixes below the model's
 * minimum are not cached.
 */
export class PromptCache {
  readonly #minimumTokens: number
  readonly #now: () => number
  readonly #expiry = new Map<string, number>()

  constructor(minimumTokens: number, now: () => number = Date.now) {
    this.#minimumTokens = minimumTokens
    this.#now = now
  }

  /** Returns the tokens that a request reads and writes, and caches the written ones. */
  use(request: PromptRequest): InputUsage {
    const boundaries = boundariesOf(request)
    const total = boundaries.at(-1)?.tokens ?? 0
    const marks = boundaries.filter(
      ({ cacheSeconds, tokens }) => cacheSeconds !== null && tokens >= this.#minimumTokens,
    )
    const hit = this.#longestHit(boundaries, marks)
    let covered = hit?.tokens ?? 0
    const written = { short: 0, long: 0 }
    for (const mark of marks) {
      const ttl = mark.cacheSeconds ?? 0
      this.#expiry.set(mark.key, this.#now() + ttl * 1_000)
      const added = Math.max(0, mark.tokens - covered)
      written[ttl > 300 ? 'long' : 'short'] += added
      covered = Math.max(covered, mark.tokens)
    }
    return {
      uncached: total - covered,
      cacheRead: hit?.tokens ?? 0,
      written5m: written.short,
      written1h: written.long,
    }
  }

  #longestHit(boundaries: readonly Boundary[], marks: readonly Boundary[]): Boundary | undefined {
    const reachable = marks.flatMap((mark) => {
      const index = boundaries.indexOf(mark)
      return boundaries.slice(Math.max(0, index - lookbackBoundaries), index + 1)
    })
    return reachable
      .filter(({ key }) => (this.#expiry.get(key) ?? 0) > this.#now())
      .sort((a, b) => b.tokens - a.tokens)[0]
  }
}

/** Returns the end of each piece of the prompt, with a digest of everything before it. */
function boundariesOf(request: PromptRequest): readonly Boundary[] {
  const hash = createHash('sha256').update(request.model)
  let characters = 0
  return promptSegments(request).map((segment) => {
    hash.update(`\0${segment.text}`)
    characters += segment.characters
    return {
      key: hash.copy().digest('hex'),
      tokens: tokensForCharacters(characters),
      cacheSeconds: segment.cacheSeconds,
    }
  })
}
