export { defineConfig, type PtcConfig } from './worker/config/define-config.js'
export { defineTool, ToolError, type Tool, type ToolContext, type ToolDefinition } from './tools/index.js'
export { defineBackend, type BackendDefinition } from './sandbox/define-backend.js'
export { PtcError, type ErrorCode } from './common/errors.js'
export type { Caller, Effect } from './common/calls.js'
export type {
  AgentInput,
  AgentResult,
  AgentStatus,
  ProgramInput,
  ProgramResult,
  RunCounts,
  RunOptions,
} from './common/runs.js'
export type { CallOutcome, CellOutcome } from './common/outcomes.js'
export type { Limits } from './common/limits.js'
