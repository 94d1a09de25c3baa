export {
  startScriptedMessagesApi,
  type ScriptedMessagesApi,
  type ScriptedMessagesApiOptions,
} from './scripted-messages-api/server.js'
export type {
  Script,
  ScriptedBlock,
  ScriptedConversation,
  ScriptedReply,
  ScriptedTurn,
  TextMatch,
  TurnMatch,
} from './scripted-messages-api/script/script.js'
export type { DisconnectMode, Fault, FaultPosition, ScriptedFault } from './scripted-messages-api/script/faults.js'
export type { RecordedRequest, RequestOutcome } from './scripted-messages-api/request-log.js'
