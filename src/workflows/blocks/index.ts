/*
 * Blocks for workflows of a user (entry point `durable-ptc/workflow`): agents and programs as child workflows, and
 * sessions and tool calls inside a workflow. The worker needs the plugin (`src/worker/plugin`).
 *
 * Boundary: the blocks combine parts of the engine's workflows, and make no other decisions.
 *
 * Invariants:
 * 1. The invariants of `src/workflows/index.ts` hold, with one exception: modules keep the sessions and calls of their
 *    workflow. The SDK loads the modules once for each workflow.
 * 2. Each call has a unique identity: no other session of this workflow, and no execution that continues it as new, has
 *    a call with the same idempotency key.
 * 3. A session is closed by its workflow, or by the reaper of its host when the workflow has ended.
 */

export { runAgent, runProgram, type AgentType, type ChildAgentResult } from './child-runs.js'
export { callTool, type ToolType } from './tool-calls.js'
export { type ExecuteCodeOptions, openSession, type WorkflowSession } from './workflow-session.js'
export type { AgentInput, AgentResult, ProgramInput, ProgramResult } from '../../common/run/runs.js'
export type { LostFile, StoredFile } from '../../common/files/files.js'
export type { CellOutcome } from '../../common/calls/outcomes.js'
