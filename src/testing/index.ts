/*
 * Testing (entry point `durable-ptc/testing`): for users' tests of their own tools and agents.
 *
 * Owns `runTool` (one attempt of a tool call without a server), `createTestEnvironment` (a Temporal server, a worker
 * and a scripted model), and the scripted Messages API server.
 *
 * Boundary: no other folder imports this one, except that the demo of the CLI imports `scripted-messages-api/`, which
 * imports `common` only. So no other code loads `@temporalio/testing`.
 *
 * Invariants:
 * 1. `close` ends everything that a test environment started, also when its start fails.
 * 2. A test environment never sends a request to a real model, and never touches the value store of the configuration.
 * 3. A tool call has the checks and failures of production: `runTool` runs the activity of the worker.
 */

export { runTool } from './run-tool.js'
export { createTestEnvironment, type TestEnvironment } from './test-environment.js'
export { startScriptedMessagesApi, type ScriptedMessagesApi } from './scripted-messages-api/server.js'
export type { Script, ScriptedTurn } from './scripted-messages-api/script/script.js'
