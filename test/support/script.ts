import type { ScriptedTurn } from '../../src/testing/index.js'
import type { ScriptedBlock } from '../../src/testing/scripted-messages-api/script/script.js'
import type { ScriptedFault } from '../../src/testing/scripted-messages-api/script/faults.js'
import type { JsonObject } from '../../src/common/json/json.js'

/** A turn of these blocks. */
export function turn(...content: readonly ScriptedBlock[]): ScriptedTurn {
  return { reply: { content } }
}

/** A turn whose first attempts get these faults. */
export function faulty(faults: readonly ScriptedFault[], scripted: ScriptedTurn): ScriptedTurn {
  return { ...scripted, faults }
}

export function text(content: string): ScriptedBlock {
  return { type: 'text', text: content }
}

export function code(source: string): ScriptedBlock {
  return { type: 'tool_use', name: 'execute_code', input: { code: source } }
}

export function call(name: string, input: JsonObject = {}): ScriptedBlock {
  return { type: 'tool_use', name, input }
}

/** A final turn that answers with the last tool result. */
export const answerResult = turn(text('{{last_tool_result}}'))

/** The script of tests without a model request. */
export const noModel = [turn(text('unused'))]
