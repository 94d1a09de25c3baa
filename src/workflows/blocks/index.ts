/*
 * Blocks for workflows of a user (entry point `durable-ptc/workflow`): agents and programs as child workflows, and
 * sessions and tool calls inside a workflow. The worker needs the plugin (`src/worker/plugin`).
 *
 * Boundary: the blocks are made of the parts of our own workflows, and add no decision of their own.
 *
 * Invariants:
 * 1. As `src/workflows/index.ts`, with one exception: modules keep the sessions and calls of their workflow. The SDK
 *    loads them for each workflow anew.
 * 2. Calls have an identity of their own: no other session of this workflow, and no execution that
 *    continues it as new, has a call with the same idempotency key.
 * 3. A session is closed by its workflow, or by the reaper of its host when the workflow has ended.
 */

export { runAgent, runProgram, type AgentType, type ChildAgentResult, type ChildRunOptions } from './child-runs.js'
export { callTool, type AnyToolType, type ToolCallOptions, type ToolType } from './tool-calls.js'
export { openSession, type SessionOptions, type WorkflowSession } from './workflow-session.js'
export type { AgentInput, AgentResult, ProgramInput, ProgramResult } from '../../common/runs/runs.js'
export type { CellOutcome } from '../../common/calls/outcomes.js'
