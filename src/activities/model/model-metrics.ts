import { PtcError } from '../../common/errors.js'
import type { ModelReply } from '../../common/agent/messages.js'
import { metrics } from '../../common/telemetry/metrics.js'
import { promptTokens } from '../../common/run/runs.js'
import { modelSpan, type SpanAttributes, withSpan } from '../../common/telemetry/tracing.js'
import type { ModelRequest } from '../../models/provider.js'

/** Measures and traces a request to the model: its duration and status, and the tokens and the cost of its reply. */
export function measureTurn(
  provider: string,
  { model, maxTokens }: Pick<ModelRequest, 'model' | 'maxTokens'>,
  request: () => Promise<ModelReply>,
): Promise<ModelReply> {
  const attributes = { 'gen_ai.provider.name': provider, 'gen_ai.request.max_tokens': maxTokens }
  return withSpan(modelSpan(model, attributes), async (setAttributes) => {
    const reply = await countTurn(model, request)
    setAttributes(replyAttributes(reply))
    return reply
  })
}

function replyAttributes({ model, stopReason, usage, requestId }: ModelReply): SpanAttributes {
  return {
    'gen_ai.response.model': model,
    'gen_ai.response.finish_reasons': [stopReason],
    'gen_ai.usage.input_tokens': promptTokens(usage),
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    ...(requestId !== null && { 'ptc.request_id': requestId }),
  }
}

async function countTurn(model: string, request: () => Promise<ModelReply>): Promise<ModelReply> {
  const startedAt = performance.now()
  let status = 'ok'
  try {
    const reply = await request()
    recordUsage(model, reply)
    return reply
  } catch (thrown) {
    status = PtcError.isInstance(thrown) ? thrown.code : 'cancelled'
    throw thrown
  } finally {
    metrics.add('ptc_model_turns_total', 1, { model, status })
    metrics.observe('ptc_model_turn_latency_milliseconds', performance.now() - startedAt, { model })
  }
}

function recordUsage(model: string, { usage, costUsd }: ModelReply): void {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  metrics.add('ptc_model_tokens_total', inputTokens, { model, type: 'input' })
  metrics.add('ptc_model_tokens_total', outputTokens, { model, type: 'output' })
  metrics.add('ptc_model_tokens_total', cacheReadTokens, { model, type: 'cache_read' })
  metrics.add('ptc_model_tokens_total', cacheWriteTokens, { model, type: 'cache_write' })
  if (costUsd !== null) metrics.add('ptc_model_cost_microdollars_total', costUsd * 1_000_000, { model })
}
