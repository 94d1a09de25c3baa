/*
 * Hosted code: code that Anthropic executes in a container of its own, with `sandbox: anthropic`. Its calls are tool
 * uses whose `caller` is a server tool use.
 */

import type { JsonObject } from '../json/json.js'
import type { CallPosition } from '../calls/calls.js'
import type { AssistantBlock, CodeContainer, ToolUseBlock, ToolUseCaller } from './messages.js'

/** The sandbox that is no sandbox of ours: Anthropic executes the code. */
export const hostedBackend = 'anthropic'

/** The name of Anthropic's tool for code, and of its server tool uses that make calls. */
export const codeExecutionTool = 'code_execution'

/** The type of the tool, and the caller of its calls. Variables stay from one execution to the next. */
export const codeExecutionType = 'code_execution_20260120'

/** A tool that the API executes by itself. */
export interface ServerToolUse {
  readonly id: string
  readonly name: string
}

/** Server tool uses that never get a result from the API, because their container is gone or is given up. */
export interface LostCode {
  readonly uses: readonly ServerToolUse[]
  /** `message`: a message came while code waited, and the API takes nothing but results then. */
  readonly reason: 'expired' | 'message'
}

/** What a turn of a run with hosted code has beside the messages. */
export interface HostedTurn {
  /** Absent: the API makes one. */
  readonly container?: CodeContainer
  /** Absent: none. */
  readonly lost?: LostCode
}

/** The server tool uses in a reply. */
export function serverToolUses(content: readonly AssistantBlock[]): readonly (ServerToolUse & { input: JsonObject })[] {
  return content.flatMap((block) => {
    const { type, id, name, input } = block as JsonObject
    if (type !== 'server_tool_use' || typeof id !== 'string' || typeof name !== 'string') return []
    return [{ id, name, input: (input ?? {}) as JsonObject }]
  })
}

/** The ids of the server tool uses whose results are in a reply. */
export function endedServerToolUses(content: readonly AssistantBlock[]): readonly string[] {
  return content.flatMap((block) => {
    const { type, tool_use_id: id } = block as JsonObject
    return type !== 'tool_result' && typeof id === 'string' ? [id] : []
  })
}

/** The caller of a call of a model's code, as the Messages API writes it: `tool_id` is the tool use with the code. */
export function toolUseCaller({ toolUseId }: Pick<CallPosition, 'toolUseId'>): {
  readonly toolUseCaller?: Required<ToolUseCaller>
} {
  return toolUseId === undefined ? {} : { toolUseCaller: { type: codeExecutionType, tool_id: toolUseId } }
}

/** The id of the server tool use whose code made this call; undefined for a direct call. */
export function codeCallerOf({ caller }: ToolUseBlock): string | undefined {
  return caller === undefined || caller.type === 'direct' ? undefined : (caller.tool_id ?? '')
}
