import { PtcError } from '../../common/errors.js'
import type { ModelReply } from '../../common/messages.js'
import { metrics } from '../../common/metrics.js'

/** Measures a request to the model: its duration and status, and the tokens and the cost of its reply. */
export async function measureTurn(model: string, request: () => Promise<ModelReply>): Promise<ModelReply> {
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
