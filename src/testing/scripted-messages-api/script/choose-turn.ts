import type { ConversationState } from './conversation-state.js'
import { invalidRequest } from '../request/api-error.js'
import type { ScriptedConversation, ScriptedTurn, TextMatch, TurnMatch } from './script.js'

/**
 * Chooses the turn for a conversation. It depends only on the conversation, not on earlier requests. So a retry gets
 * the same reply, and any number of runs can share a server.
 *
 * @throws ApiError a 400, which clients don't retry, when the script has no turn
 */
export function chooseTurn(script: readonly ScriptedConversation[], state: ConversationState): ScriptedTurn {
  const { turns } = chooseConversation(script, state)
  const matching = turns.find(({ match }) => match !== undefined && turnMatches(match, state))
  if (matching !== undefined) return matching
  const turn = turns.filter(({ match }) => match === undefined)[state.assistantMessages]
  if (turn !== undefined) return turn
  throw invalidRequest(
    `scripted messages API: the script has no turn for a conversation with ${state.assistantMessages} assistant messages`,
  )
}

function chooseConversation(script: readonly ScriptedConversation[], state: ConversationState): ScriptedConversation {
  const matchesConversation = ({ match }: ScriptedConversation) =>
    match !== undefined && textMatches(match.firstUserText, state.firstUserText)
  const chosen = script.find(matchesConversation) ?? script.find(({ match }) => match === undefined)
  if (chosen !== undefined) return chosen
  throw invalidRequest(
    `scripted messages API: no conversation of the script is for one that begins with ${JSON.stringify(state.firstUserText.slice(0, 200))}`,
  )
}

function turnMatches(match: TurnMatch, state: ConversationState): boolean {
  const { assistantMessages = state.assistantMessages, lastUserText, lastToolResult } = match
  return (
    assistantMessages === state.assistantMessages &&
    (lastUserText === undefined || textMatches(lastUserText, state.lastUserText)) &&
    (lastToolResult === undefined || textMatches(lastToolResult, state.lastToolResult))
  )
}

function textMatches(match: TextMatch, text: string | undefined): boolean {
  if (text === undefined) return false
  if (typeof match === 'string') return text.includes(match)
  if ('equals' in match) return text === match.equals
  if ('includes' in match) return text.includes(match.includes)
  return new RegExp(match.pattern, 'u').test(text)
}
