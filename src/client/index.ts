/*
 * The client library (entry point `durable-ptc/client`) owns starting, following, reading and cancelling runs, and
 * conversations and named sessions.
 *
 * Boundary: Temporal's client. No worker, no sandbox, no terminal.
 *
 * Invariants:
 * 1. Every error is a PtcError with a code of the table in `src/common/errors.ts`.
 * 2. A run is its continue-as-new chain: any run id of the chain identifies the run.
 * 3. Waiting for a run survives a server that is unavailable for up to 60 s.
 * 4. A call that needs a worker does not wait forever on a queue that no worker polls: WORKER_MISSING after 5 s, for
 *    queries after 15 s.
 */

export { createPtcClient, type PtcClient } from './client.js'
export { createDataConverter } from './data-converter.js'
export { PtcError, type ErrorCode } from '../common/errors.js'
export type { CallNode, CellNode, RunTree, TurnNode } from './run-tree/tree.js'
export type { StartOptions } from './start/start-options.js'
export type { AgentResultOf } from './run/agent-result.js'
export type { Budget, BudgetStatus } from '../common/budget/budget.js'
export type { RunFiles } from './files/run-files.js'
export type { TransferOptions } from './files/store-uploads.js'
export type { FileInfo, FileUpload, LostFile, StoredFile } from '../common/files/files.js'
export type { RunHandle } from './run/run-handle.js'
export type { WaitOfRun } from './calls/open-waits.js'
export type { RunInfo } from './run/run-info.js'
export type { Conversation, SentMessage } from './conversations/conversation.js'
export type { ConversationOptions } from './conversations/conversation-options.js'
export type { ConversationAnswer, ConversationStatus, ProviderMessage } from '../common/conversation/conversation.js'
export type { SessionInfo } from './sessions/session-info.js'
export type { Sessions } from './sessions/sessions.js'
export type { CommandResult, NamedSession, NamedSessionOptions, SessionFile } from './sessions/named-session.js'
export type { ExecutionId, SessionExecution } from './sessions/execute.js'
export type { Attachment } from '../common/conversation/attachments.js'
export type { AgentInput, AgentResult, CallInput, CallResult, ProgramInput, ProgramResult } from '../common/run/runs.js'
