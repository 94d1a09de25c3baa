import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { executeCodeTool } from '../../common/names.js'
import { isTextBlock, isToolUseBlock, type ModelReply } from '../../common/agent/messages.js'
import type { ModelPhase, ModelTurnInput } from '../../common/agent/model-turn.js'
import { isEnvironmentTool } from '../../common/run/environment.js'
import { promptTokens } from '../../common/run/runs.js'
import { metrics } from '../../common/telemetry/metrics.js'
import { modelSpan, type SpanAttributes, withSpan } from '../../common/telemetry/tracing.js'
import { truncateEnd } from '../../common/text/text.js'
import type { ModelDelta, ModelProgress, ModelRequest } from '../../models/provider.js'
import { codeOf, type EventOrigin, type EventSinks, Observer } from '../observe.js'

/** Maximum characters of the reason why an attempt of a turn failed. */
const maxMessageCharacters = 500

interface TurnWatcher {
  readonly onProgress: (progress: ModelProgress) => void
  /** Undefined: nobody reads the pieces. */
  readonly onDelta: ((delta: ModelDelta) => void) | undefined
}

/**
 * Gets a reply of the model, and publishes the text and code of the model while they arrive.
 *
 * @param work gets the reply and stores it
 */
export function observeTurn<Result extends { readonly reply: ModelReply }>(
  sinks: EventSinks,
  input: Pick<ModelTurnInput, 'turn' | 'model' | 'history' | 'committedTurns' | 'message' | 'planStep' | 'isHeld'>,
  origin: EventOrigin,
  work: (watcher: TurnWatcher) => Promise<Result>,
): Promise<Result> {
  const { turn, model, history, committedTurns, message, planStep, isHeld = false } = input
  const toEvent = ({ type, ...piece }: ModelDelta) => ({ type: `${type}.delta`, turn, ...piece }) as const
  let phase: ModelPhase = 'waiting'
  let hasDelta = false
  // A fallback asks for the same turn in another activity, and the attempts of that activity begin with 1 again.
  const epoch = -(model.fallbacks?.length ?? 0)
  return new Observer(sinks, origin, { unit: `turn/${turn}`, epoch, id: `${origin.runId}/${turn}` }).observe(
    {
      started: {
        type: 'turn.started',
        turn,
        model: model.name,
        messages: history?.length ?? 0,
        committedTurns,
        ...defined({ message, planStep }),
      },
      completed: ({ reply: { content, model: answered, stopReason } }) => [
        ...(hasDelta || isHeld ? [] : content.flatMap(wholeBlock).map(toEvent)),
        { type: 'turn.completed', turn, model: answered, stopReason },
      ],
      failed: (thrown) => ({
        type: 'turn.failed',
        turn,
        code: codeOf(thrown, origin),
        ...(PtcError.isInstance(thrown) && { message: truncateEnd(thrown.message, maxMessageCharacters) }),
      }),
    },
    (publish) =>
      work({
        onProgress(progress) {
          if (progress.phase === phase || progress.phase === 'waiting') return
          phase = progress.phase
          publish({ type: 'turn.progressed', turn, phase })
        },
        onDelta:
          sinks.stream && !isHeld
            ? (delta) => {
                hasDelta = true
                publish(toEvent(delta))
              }
            : undefined,
      }),
  )
}

/**
 * Returns the text or code of a block, for a provider that does not stream. The cell of an environment tool is no code of
 * the model.
 */
function wholeBlock(content: ModelReply['content'][number], block: number): readonly ModelDelta[] {
  if (isTextBlock(content)) return [{ type: 'text', block, text: content.text }]
  const isCode =
    isToolUseBlock(content) && content.name === executeCodeTool && !isEnvironmentTool(content.input['tool'])
  const code = isCode ? content.input['code'] : undefined
  return typeof code === 'string' ? [{ type: 'code', block, text: code }] : []
}

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
