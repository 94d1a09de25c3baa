import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow'
import type { ErrorCode } from '../../common/errors.js'
import type { ModelTurnInput } from '../../common/runs/model-turn.js'
import { requesterOf } from '../../common/runs/requester.js'
import type { Run } from '../run.js'
import type { MessageHistoryState } from './message-history.js'

/** The argument of activity `model.turn`, without the model that answers it. */
export function turnRequest(
  { config, counts }: Run,
  { history, pending }: MessageHistoryState,
): Omit<ModelTurnInput, 'model'> {
  const { limits, toolSet, instructions, outputSchema, input, compaction, readMore, model } = config
  const { signatures: _, outputSchemas: __, ...tools } = toolSet
  const agent = {
    ...(instructions !== undefined && { instructions }),
    ...(outputSchema && { outputSchema }),
    ...(input && { inputDescription: input.description }),
  }
  const context = {
    ...(compaction && model.contextWindow !== undefined && { isCompacted: true as const }),
    ...(readMore && { readMore }),
  }
  const requester = requesterOf(config.context)
  const asked = { history, pending, ...(requester && { requester }) }
  return { turn: counts.turns, limits, tools, ...agent, ...context, ...asked }
}

/** A conversation that no longer fits into the model's context ends the turns; every other failure fails the run. */
export function isContextTooLong(thrown: unknown): boolean {
  const cause = thrown instanceof ActivityFailure ? thrown.cause : undefined
  return cause instanceof ApplicationFailure && cause.type === contextTooLong
}

const contextTooLong: ErrorCode = 'MODEL_CONTEXT_TOO_LONG'
