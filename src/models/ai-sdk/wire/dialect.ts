import { ApiError } from './api-error.js'

/** The differences between servers of one API. */
export interface Dialect {
  /**
   * OpenAI's newer models refuse `max_tokens`; many other servers for chat completions know only `max_tokens`.
   * Undefined: the name that the package of the vendor sends.
   */
  readonly tokenLimit: 'max_tokens' | 'max_completion_tokens' | undefined
  /** Sends `stream_options`, without which OpenAI's stream of a chat completion has no usage. */
  readonly includesUsage: boolean
  /** Asks the responses API for encrypted reasoning, which models without reasoning refuse. */
  readonly includesReasoning: boolean
  /** Maximum output tokens of the model. Undefined: the model has refused no number. */
  readonly maxTokens?: number
  /** The server has refused the other `tokenLimit`. */
  readonly isTokenLimitChanged?: true
}

const unsupported =
  /unsupported|not supported|unrecognized|unknown|unexpected|extra|not permitted|not allowed|forbidden/i

/**
 * `max_tokens is too large: 32000. This model supports at most 16384 completion tokens…`; `Expected a value <= 16384`.
 */
const tooManyTokens = /max_(?:completion_|output_)?tokens.*(?:at most|<=) (\d+)/

/**
 * The dialect of a server that refused a request because it lacks a parameter, or allows fewer output tokens; undefined
 * for other errors.
 *
 * @param maxTokens of the request
 */
export function nextDialect(dialect: Dialect, thrown: unknown, maxTokens: number): Dialect | undefined {
  if (!(thrown instanceof ApiError) || (thrown.status !== 400 && thrown.status !== 422)) return undefined
  const limit = Number(tooManyTokens.exec(thrown.message)?.[1])
  if (limit > 0 && limit < maxTokens) return { ...dialect, maxTokens: limit }
  if (!unsupported.test(thrown.message)) return undefined
  if (dialect.includesUsage && /stream_options|include_usage/.test(thrown.message)) {
    return { ...dialect, includesUsage: false }
  }
  if (dialect.includesReasoning && /encrypted/i.test(thrown.message)) return { ...dialect, includesReasoning: false }
  if (dialect.isTokenLimitChanged) return undefined
  const refused = /max_completion_tokens|max_tokens/.exec(thrown.message)?.[0]
  if (refused === undefined || (dialect.tokenLimit !== undefined && dialect.tokenLimit !== refused)) return undefined
  const tokenLimit = refused === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  return { ...dialect, tokenLimit, isTokenLimitChanged: true }
}
