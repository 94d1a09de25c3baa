export { defineConfig, type PtcConfig } from './config/define-config.js'
export {
  askHuman,
  braveSearch,
  defineTool,
  file,
  scriptedSearch,
  subagent,
  think,
  memory,
  ToolError,
  webFetch,
  webSearch,
  type ApprovalRule,
  type FileOutput,
  type FileOutputOptions,
  type FileResult,
  type HumanQuestion,
  type McpServer,
  type OpenApiSource,
  type MemoryCommand,
  type MemoryLimits,
  type MemoryOptions,
  type MemoryScope,
  type RemoteCall,
  type SearchProvider,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolSource,
  type WebFetchOptions,
} from './tools/index.js'
export { defineAgent, type Agent, type AgentDefinition, type AgentSession } from './agents/index.js'
export { defineLanguage, type CommandLanguage } from './languages/index.js'
export { defineBackend } from './sandbox/define-backend.js'
export type { ModelProvider, ModelRequest } from './models/provider.js'
export type { ModelReply } from './common/agent/messages.js'
export { PtcError, type ErrorCode } from './common/errors.js'
export { openTelemetryAuditSink, type AuditEvent, type AuditSink, type OpenTelemetryLogger } from './audit/index.js'
export {
  fileStream,
  redisStream,
  type StreamEntry,
  type StreamEvent,
  type StreamReader,
  type StreamSink,
} from './stream/index.js'
export type { FileUpload, LostFile, StoredFile } from './common/files/files.js'
export type { Effect } from './common/calls/calls.js'
export type { Limits } from './common/run/limits.js'
export type { NetworkHostOption, NetworkOption } from './common/run/network.js'
