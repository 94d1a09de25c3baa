import { cacheControlOf } from './block-schema.js'
import { checkConversation, checkBlockRoles20261021, checkText } from './check-conversation.js'
import type { ApiVersion } from './check-headers.js'
import { invalidRequest } from './api-error.js'
import { isToolResult, type MessagesRequest, type PromptRequest } from './request-schema.js'
import { countTokens, referencesOf } from './token-count.js'

/** Limits of requests. */
export interface ModelLimits {
  /** Maximum input tokens of a request. */
  readonly contextTokens: number
  /** Maximum `max_tokens`. */
  readonly outputTokens: number
}

/**
 * Checks the rules for a request that its schema does not express.
 *
 * @throws ApiError
 */
export function checkPrompt(request: PromptRequest, version: ApiVersion, limits: ModelLimits): void {
  for (const [index, block] of (request.system ?? []).entries()) {
    checkText(block.text, cacheControlOf(block) !== undefined, 'system', `system.${index}`)
  }
  checkTools(request)
  checkCacheControlCount(request)
  checkConversation(request.messages, request.model)
  if (version !== '2023-06-01') checkBlockRoles20261021(request.messages)
  const tokens = countTokens(request)
  if (tokens > limits.contextTokens) {
    throw invalidRequest(`prompt is too long: ${tokens} tokens > ${limits.contextTokens} maximum`)
  }
}

/** @throws ApiError */
export function checkOutputLimits(request: MessagesRequest, limits: ModelLimits): void {
  const { max_tokens: maxTokens, thinking, model } = request
  if (maxTokens > limits.outputTokens) {
    throw invalidRequest(
      `max_tokens: ${maxTokens} > ${limits.outputTokens}, which is the maximum allowed number of output tokens for ${model}`,
    )
  }
  const budget = thinking?.type === 'enabled' && 'budget_tokens' in thinking ? thinking['budget_tokens'] : 0
  if (typeof budget === 'number' && budget >= maxTokens) {
    throw invalidRequest('`max_tokens` must be greater than `thinking.budget_tokens`.')
  }
}

function checkTools({ tools = [], tool_choice: choice, messages }: PromptRequest): void {
  const names = tools.map((tool) => tool['name']).filter((name) => typeof name === 'string')
  if (new Set(names).size < names.length) throw invalidRequest('tools: Tool names must be unique.')
  checkDeferredTools(tools, messages)
  if (choice === undefined) return
  if (tools.length === 0 && choice.type !== 'none') {
    throw invalidRequest('tool_choice may only be specified while providing tools.')
  }
  if (choice.type === 'tool' && !names.includes(choice.name)) {
    throw invalidRequest(`Tool '${choice.name}' not found in provided tools`)
  }
}

/** Checks deferred tools. When no public source quotes the API's text, the text is this server's own. */
function checkDeferredTools(tools: NonNullable<PromptRequest['tools']>, messages: PromptRequest['messages']): void {
  const deferred = tools.filter((tool) => tool['defer_loading'] === true)
  if (deferred.length > 0 && deferred.length === tools.length)
    throw invalidRequest('All tools have defer_loading set. At least one tool must be non-deferred.')
  const cached = deferred.find((tool) => cacheControlOf(tool) !== undefined)
  if (cached) {
    throw invalidRequest(
      `Tool '${String(cached['name'])}' cannot have both defer_loading=true and cache_control set. ` +
        'Tools with defer_loading cannot use prompt caching.',
    )
  }
  const names = tools.map((tool) => tool['name'])
  for (const name of messages.flatMap(({ content }) => content.flatMap(referencesOf)))
    if (!names.includes(name)) throw invalidRequest(`Tool reference '${name}' not found in available tools`)
}

const maximumCacheControls = 4

function checkCacheControlCount(request: PromptRequest): void {
  const { tools = [], system = [], messages } = request
  const blocks = messages.flatMap(({ content }) => content)
  const nested = blocks.flatMap((block) => (isToolResult(block) ? (block.content ?? []) : []))
  const holders = [request, ...tools, ...system, ...blocks, ...nested]
  const found = holders.filter((holder) => cacheControlOf(holder) !== undefined).length
  if (found > maximumCacheControls) {
    throw invalidRequest(
      `A maximum of ${maximumCacheControls} blocks with cache_control may be provided. Found ${found}.`,
    )
  }
}
