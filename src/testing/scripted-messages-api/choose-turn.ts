import type { ConversationState } from './conversation-state.js'
import { invalid } from './refusal.js'
import type { ScriptedConversation, ScriptedTurn, TextMatch, TurnMatch } from './script.js'

/**
 * The turn that answers a conversation. It depends on the conversation alone, never on what was asked before, so that a
 * retry gets the same answer and any number of runs can share a server.
 *
 * @throws ApiRefusal when the script has no answer: a 400, which nobody retries
 */
export function chooseTurn(script: readonly ScriptedConversation[], state: ConversationState): ScriptedTurn {
  const { turns } = chooseConversation(script, state)
  const matching = turns.find(({ match }) => match !== undefined && holds(match, state))
  if (matching !== undefined) return matching
  const turn = turns.filter(({ match }) => match === undefined)[state.assistantMessages]
  if (turn !== undefined) return turn
  throw invalid(
    `scripted messages API: the script has no turn for a conversation with ${state.assistantMessages} assistant messages`,
  )
}

function chooseConversation(script: readonly ScriptedConversation[], state: ConversationState): ScriptedConversation {
  const fits = ({ match }: ScriptedConversation) =>
    match !== undefined && textFits(match.firstUserText, state.firstUserText)
  const chosen = script.find(fits) ?? script.find(({ match }) => match === undefined)
  if (chosen !== undefined) return chosen
  throw invalid(
    `scripted messages API: no conversation of the script is for one that begins with ${JSON.stringify(state.firstUserText.slice(0, 200))}`,
  )
}

function holds(match: TurnMatch, state: ConversationState): boolean {
  const { assistantMessages = state.assistantMessages, lastUserText, lastToolResult } = match
  return (
    assistantMessages === state.assistantMessages &&
    (lastUserText === undefined || textFits(lastUserText, state.lastUserText)) &&
    (lastToolResult === undefined || textFits(lastToolResult, state.lastToolResult))
  )
}

function textFits(match: TextMatch, text: string | undefined): boolean {
  if (text === undefined) return false
  if (typeof match === 'string') return text.includes(match)
  if ('equals' in match) return text === match.equals
  if ('includes' in match) return text.includes(match.includes)
  return new RegExp(match.pattern, 'u').test(text)
}
