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
} from './scripted-messages-api/script.js'
export type { CutManner, Fault, FaultPlace, ScriptedFault } from './scripted-messages-api/fault-schema.js'
export type { RecordedRequest, RequestOutcome } from './scripted-messages-api/request-log.js'
