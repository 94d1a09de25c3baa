export {
  startScriptedMessagesApi,
  type ScriptedMessagesApi,
  type ScriptedMessagesApiOptions,
} from './scripted-messages-api/server.js'
export type { Script, ScriptedBlock, ScriptedTurn } from './scripted-messages-api/script/script.js'
export type { ScriptedFault } from './scripted-messages-api/script/faults.js'
