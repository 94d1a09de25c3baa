import { APIError } from '@anthropic-ai/sdk'
import { nativeTools } from '../../common/agent/native-tools.js'
import type { MessagesParams } from './request.js'

/** The differences between servers for the Messages API, and between their models. */
export interface Dialect {
  /** Whether the server searches tools. */
  readonly hasToolSearch: boolean
  /** Whether the model knows the types of tools that the API defines. */
  readonly hasNativeTools: boolean
  /** Maximum output tokens of the model. Undefined: the model has refused no number. */
  readonly maxTokens?: number
}

/** `max_tokens: 128000 > 64000, which is the maximum…`; for Bedrock: `… exceeds the model limit of 64000`. */
const tooManyTokens = /max_tokens: \d+ > (\d+)|maximum tokens .* exceeds? the model limit (?:of|that is) (\d+)/i

/** A server may treat the tool that searches as one of the client, which needs a schema. */
const noToolSearch = /defer_loading|tool_search|input_schema/

/** A model that does not know the type of a tool, and a server that treats the tool as one of the client. */
const noNativeTool = new RegExp(`${Object.keys(nativeTools).join('|')}|input_schema|tools\\.\\d+`)

/**
 * The dialect of a server that refused the form of a request; undefined for other errors. A reply with fewer tokens
 * than wanted may be truncated, and the run handles that.
 */
export function nextDialect(
  dialect: Dialect,
  thrown: unknown,
  { max_tokens: maxTokens, tools = [] }: Pick<MessagesParams, 'max_tokens' | 'tools'>,
): Dialect | undefined {
  if (!(thrown instanceof APIError) || (thrown.status !== 400 && thrown.status !== 422)) return undefined
  const { message } = thrown
  if (tools.some((tool) => 'defer_loading' in tool) && noToolSearch.test(message))
    return { ...dialect, hasToolSearch: false }
  if (tools.some(({ type }) => typeof type === 'string' && type in nativeTools) && noNativeTool.test(message))
    return { ...dialect, hasNativeTools: false }
  const [, first, second] = tooManyTokens.exec(message) ?? []
  const limit = Number(first ?? second ?? Number.NaN)
  return limit > 0 && limit < maxTokens ? { ...dialect, maxTokens: limit } : undefined
}
