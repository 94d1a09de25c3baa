import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow'
import type { ErrorCode } from '../../common/errors.js'
import type { ModelTurnInput } from '../../common/runs/model-turn.js'
import { requesterOf } from '../../common/runs/requester.js'
import { hasToolSearch, type RunConfig } from '../../common/runs/run-config.js'
import type { Run } from '../run.js'
import type { MessageHistoryState } from './message-history.js'

/** The argument of activity `model.turn`, without the model that answers it. */
export function turnRequest(
  { config, counts }: Run,
  { history, pending }: MessageHistoryState,
): Omit<ModelTurnInput, 'model'> {
  const { limits, instructions, outputSchema, input, compaction, readMore, model } = config
  const agent = {
    ...(instructions !== undefined && { instructions }),
    ...(outputSchema && { outputSchema }),
    ...(input && { inputDescription: input.description }),
  }
  const context = {
    ...(compaction && model.contextWindow !== undefined && { isCompacted: true as const }),
    ...(readMore && { readMore }),
    ...(hasToolSearch(config) && { toolSearch: true as const }),
  }
  const requester = requesterOf(config.context)
  const asked = { history, pending, ...(requester && { requester }) }
  return { turn: counts.turns, limits, tools: documentedToolSet(config), ...agent, ...context, ...asked }
}

/** The tools of the run for activities that document them. */
export function documentedToolSet({ toolSet }: RunConfig): ModelTurnInput['tools'] {
  const { signatures: _, outputSchemas: __, ...tools } = toolSet
  return tools
}

/** A conversation that no longer fits into the model's context ends the turns; every other failure fails the run. */
export function isContextTooLong(thrown: unknown): boolean {
  const cause = thrown instanceof ActivityFailure ? thrown.cause : undefined
  return cause instanceof ApplicationFailure && cause.type === contextTooLong
}

const contextTooLong: ErrorCode = 'MODEL_CONTEXT_TOO_LONG'
