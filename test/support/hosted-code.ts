import type { JsonObject } from '../../src/common/json/json.js'
import type { ScriptedTurn } from '../../src/testing/index.js'
import type { ScriptedBlock } from '../../src/testing/scripted-messages-api/script/script.js'

/** The container of scripted replies. */
export const container = { id: 'container_1' }

/** Code that the API executes. */
export function hostedCode(id: string, source: string): ScriptedBlock {
  return { type: 'server_tool_use', id, name: 'code_execution', input: { code: source }, caller: { type: 'direct' } }
}

/** A call that this code makes. */
export function hostedCall(codeId: string, name: string, input: JsonObject = {}): ScriptedBlock {
  return { type: 'tool_use', name, input, caller: { type: 'code_execution_20260120', tool_id: codeId } }
}

/** The end of this code. */
export function hostedResult(codeId: string, stdout: string): ScriptedBlock {
  const content = { type: 'code_execution_result', stdout, stderr: '', return_code: 0, content: [] }
  return { type: 'code_execution_tool_result', tool_use_id: codeId, content }
}

/** A turn of these blocks, with a container. */
export function hostedTurn(
  content: readonly ScriptedBlock[],
  reply: Omit<ScriptedTurn['reply'], 'content'> = {},
): ScriptedTurn {
  return { reply: { content, container, ...reply } }
}
