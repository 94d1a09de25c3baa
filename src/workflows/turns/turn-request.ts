import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow'
import type { ErrorCode } from '../../common/errors.js'
import type { ModelTurnInput } from '../../common/runs/model-turn.js'
import { requesterOf } from '../../common/runs/requester.js'
import type { Run } from '../run.js'
import type { MessageHistoryState } from './message-history.js'

/**
 * The argument of activity `model.turn`, without the model that answers it.
 *
 * @param planStep id of the plan step that the turn works on
 */
export function turnRequest(
  { config, counts }: Run,
  { history, pending }: MessageHistoryState,
  planStep: string | undefined,
): Omit<ModelTurnInput, 'model'> {
  const { limits, toolSet, instructions, outputSchema, mode, doneCheck, input } = config
  const { signatures: _, outputSchemas: __, ...tools } = toolSet
  const agent = {
    ...(instructions !== undefined && { instructions }),
    ...(outputSchema && { outputSchema }),
    ...(mode && { mode }),
    ...(doneCheck !== undefined && { doneCheck }),
    ...(planStep !== undefined && { planStep }),
    ...(input && { inputDescription: input.description }),
  }
  const requester = requesterOf(config.context)
  const asked = { history, pending, ...(requester && { requester }) }
  return { turn: counts.turns, limits, tools, ...agent, ...asked }
}

/** A conversation that no longer fits into the model's context ends the turns; every other failure fails the run. */
export function isContextTooLong(thrown: unknown): boolean {
  const cause = thrown instanceof ActivityFailure ? thrown.cause : undefined
  return cause instanceof ApplicationFailure && cause.type === contextTooLong
}

const contextTooLong: ErrorCode = 'MODEL_CONTEXT_TOO_LONG'
