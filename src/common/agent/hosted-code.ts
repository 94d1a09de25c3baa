/*
 * Hosted code: code that Anthropic executes in its own container, with `sandbox: anthropic`. Its calls are tool uses
 * with a server tool use as their `caller`.
 */

import type { JsonObject } from '../json/json.js'
import type { CallPosition } from '../calls/calls.js'
import type { AssistantBlock, CodeContainer, ToolUseBlock, ToolUseCaller } from './messages.js'

/** The `sandbox` option for which Anthropic executes the code. No worker has this backend. */
export const hostedBackend = 'anthropic'

/** The name of Anthropic's tool for code, and of server tool uses that make calls. */
export const codeExecutionTool = 'code_execution'

/** The type of the tool, and the caller of its calls. Variables stay from one execution to the next. */
export const codeExecutionType = 'code_execution_20260120'

/** A tool that the API executes by itself. */
export interface ServerToolUse {
  readonly id: string
  readonly name: string
}

/** Server tool uses that never get a result from the API, because their container has expired or was given up. */
export interface LostCode {
  readonly uses: readonly ServerToolUse[]
  /** `message`: a message arrived while code waited, and the API then accepts only results. */
  readonly reason: 'expired' | 'message'
}

/** The additional data of a turn of a run with hosted code. */
export interface HostedTurn {
  /** Absent: the API creates a container. */
  readonly container?: CodeContainer
  /** Absent: no code was lost. */
  readonly lost?: LostCode
}

/** Returns the server tool uses in a reply. */
export function serverToolUses(content: readonly AssistantBlock[]): readonly (ServerToolUse & { input: JsonObject })[] {
  return content.flatMap((block) => {
    const { type, id, name, input } = block as JsonObject
    if (type !== 'server_tool_use' || typeof id !== 'string' || typeof name !== 'string') return []
    return [{ id, name, input: (input ?? {}) as JsonObject }]
  })
}

/** Returns the ids of the server tool uses that have a result in a reply. */
export function endedServerToolUses(content: readonly AssistantBlock[]): readonly string[] {
  return content.flatMap((block) => {
    const { type, tool_use_id: id } = block as JsonObject
    return type !== 'tool_result' && typeof id === 'string' ? [id] : []
  })
}

/**
 * Returns the caller of a call from a model's code in the format of the Messages API: `tool_id` is the tool use with
 * the code.
 */
export function toolUseCaller({ toolUseId }: Pick<CallPosition, 'toolUseId'>): {
  readonly toolUseCaller?: Required<ToolUseCaller>
} {
  return toolUseId === undefined ? {} : { toolUseCaller: { type: codeExecutionType, tool_id: toolUseId } }
}

/** Returns the id of the server tool use with the code that made this call; undefined for a direct call. */
export function codeCallerOf({ caller }: ToolUseBlock): string | undefined {
  return caller === undefined || caller.type === 'direct' ? undefined : (caller.tool_id ?? '')
}
