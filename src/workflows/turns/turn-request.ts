import { defined } from '../../common/defined.js'
import type { DescribedSession, ModelTurnInput, SharedSessionOwner } from '../../common/agent/model-turn.js'
import { requesterOf } from '../../common/run/requester.js'
import { hasProviderSearch, hasToolSearch, type RunConfig } from '../../common/run/run-config.js'
import type { SessionOwner } from '../../common/run/run-config.js'
import type { HeldSession } from '../../common/session/held-sessions.js'
import type { Run } from '../run/run.js'
import { hostedTurn, noHostedCode } from './hosted/hosted-code.js'
import type { MessageHistoryState } from './message-history.js'

/** After a compaction the next request should have this share of the tokens at which it is due. */
export const targetShare = 7 / 8

/**
 * Returns the argument of activity `model.turn`, without the model.
 *
 * @param planStep id of the plan step of the turn
 */
export function turnRequest(
  run: Run,
  { history, committedTurns = 0, pending, message, hosted = noHostedCode }: MessageHistoryState,
  planStep: string | undefined,
): Omit<ModelTurnInput, 'model'> {
  const { config, counts, isHosted } = run
  const { instructions, outputSchema, isPlain, mode, doneCheck, input, contents, network, sessionOwner, environment } =
    config
  const { heldSessions } = config
  const { compaction, model } = config
  const agent = {
    ...defined({ environment, instructions, outputSchema }),
    ...(isPlain && { isPlain }),
    ...(mode && { mode }),
    ...defined({ doneCheck, planStep, contents }),
    ...defined({ inputDescription: input?.description, networkDescription: network?.description }),
    ...(config.files && { hasFiles: true as const }),
    ...(sessionOwner && { sharedSession: describedOwner(sessionOwner) }),
    ...(heldSessions && { heldSessions: heldSessions.map(describedSession) }),
  }
  // A model that has only one turn needs nothing that helps later turns.
  const context = mode !== 'single-turn' && {
    ...(compaction && model.contextWindow !== undefined && { isCompacted: true as const }),
    ...(compaction?.provider && !isHosted && { providerClearsAt: compaction.threshold * targetShare }),
    ...(hasToolSearch(config) && { toolSearch: true as const }),
    ...(hasProviderSearch(config) && { providerSearch: true as const }),
  }
  const requester = requesterOf(config.context)
  const code = { ...(isHosted && { hosted: hostedTurn(hosted) }), ...defined({ skills: run.skills.ofTurn() }) }
  const ofMessage = message !== undefined && { message }
  const asked = { history, committedTurns, pending, ...ofMessage, ...defined({ requester }), ...code }
  const { cellSeconds, outputCharacters, callsPerCell, argumentBytes } = config.limits
  const limits = { cellSeconds, outputCharacters, callsPerCell, argumentBytes }
  const described = { limits, tools: documentedToolSet(config), language: config.language }
  return { turn: counts.turns, ...described, ...agent, ...context, ...asked }
}

function describedSession({ name, language, networkDescription, contents }: HeldSession): DescribedSession {
  return { name, language, ...defined({ networkDescription, contents }) }
}

function describedOwner(owner: SessionOwner): SharedSessionOwner {
  return owner.type === 'named' ? { type: owner.type, name: owner.name } : { type: owner.type }
}

/** Returns the tools of the run for activities that document them. */
export function documentedToolSet({ toolSet }: RunConfig): ModelTurnInput['tools'] {
  const { signatures: _, outputSchemas: __, ...tools } = toolSet
  return tools
}
