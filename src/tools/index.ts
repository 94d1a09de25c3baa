/*
 * Tools: definition, validation of arguments and results, execution of one attempt, and documentation for the model.
 *
 * Boundary: knows no Temporal, sandbox or model. Folder `validation/` has limits and schemas; `src/languages` renders
 * the stubs of tools.
 *
 * Invariants:
 * 1. A tool and a registry are immutable.
 * 2. A call is checked twice: before it is scheduled (`describeCall`), and where the tool runs (`runTool`, the
 *    authority).
 * 3. Error messages for the caller contain no stack and no path of the host; the worker's log has them.
 */

export { askHuman, type AskHumanOptions, type HumanQuestion } from './ask-human.js'
export {
  braveSearch,
  scriptedSearch,
  subagent,
  think,
  webFetch,
  webSearch,
  type BraveSearchOptions,
  type SearchOptions,
  type SearchProvider,
  type SearchResult,
  type ThinkOptions,
  type WebFetchOptions,
  type WebSearchOptions,
  type SubagentOptions,
} from './built-in/index.js'
export { defineTool } from './define-tool.js'
export type { Duration } from '../common/text/duration.js'
export type { ApprovalOptions, ApprovalRule, GatedCall, RememberRule } from './tool-definition.js'
export type { CompensatedCall } from './tool-definition.js'
export { file, type FileOutput, type FileOutputOptions, type FileResult } from './file-output.js'
export { ToolError } from './tool-error.js'
export type { DeferredToolContext, ToolContext, ToolLog } from './tool-context.js'
export type { DeferredToolDefinition, RemoteToolDefinition, ToolDefinition } from './tool-definition.js'
export type { Tool } from './tool.js'
export type { MemoryCommand } from './memory/commands/commands.js'
export { memory, type MemoryOptions } from './memory/memory.js'
export type { MemoryLimits } from './memory/limits.js'
export type { MemoryScope } from './memory/scope.js'
export type { McpServer } from './sources/mcp/server-options.js'
export type { OpenApiSource } from './sources/openapi/options.js'
export type { ToolSource } from './sources/tool-source.js'
export type { RemoteCall } from '../common/calls/calls.js'
