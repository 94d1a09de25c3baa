import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow'
import type { ModelTurnInput, ModelTurnResult } from '../../common/agent/model-turn.js'
import { defined } from '../../common/defined.js'
import type { ModelId } from '../../common/run/run-config.js'
import type { Run } from '../run/run.js'
import { hasFailedWith } from '../temporal/failures.js'
import { modelTurn } from '../temporal/model-activities.js'

/**
 * Asks the model of the run for one turn. When the model fails, the next of its fallbacks answers, and the run stays
 * with it: the model that failed becomes the last fallback.
 *
 * @throws the failure of the last model
 */
export function askModel(
  run: Run,
  input: Omit<ModelTurnInput, 'model'>,
  maxTokens: number,
  summary: string,
): Promise<ModelTurnResult> {
  const { timeouts, model } = run.config
  const { fallbacks = [], provider, name, contextWindow, ...settings } = model
  const first: ModelId = { provider, name, ...defined({ contextWindow }) }
  const chain = [first, ...fallbacks]

  async function ask(position: number): Promise<ModelTurnResult> {
    const id = chain[position] ?? first
    const left = chain.slice(position + 1)
    const asked = { ...settings, ...id, maxTokens, ...(left.length > 0 && { fallbacks: left }) }
    const suffix = position === 0 ? '' : ` · ${id.provider}/${id.name}`
    try {
      const result = await modelTurn({ ...input, model: asked }, timeouts, summary + suffix)
      if (position > 0) {
        const rotated = [...left, ...chain.slice(0, position)]
        run.useModel({ ...settings, ...id, fallbacks: rotated })
      }
      return result
    } catch (thrown) {
      if (left.length === 0 || !isModelFailure(thrown)) throw thrown
      return ask(position + 1)
    }
  }

  return ask(0)
}

/** Returns true when a provider refused or failed. Failures of the value store or of the workers do not count. */
function isModelFailure(thrown: unknown): boolean {
  // The fallbacks do not have an expired container either.
  if (hasFailedWith(thrown, 'MODEL_CONTAINER_EXPIRED')) return false
  const cause = thrown instanceof ActivityFailure ? thrown.cause : undefined
  return cause instanceof ApplicationFailure && cause.type?.startsWith('MODEL_') === true
}
