/*
 * The workflow bundle: the workflows `agent`, `conversation`, `program`, `session` and `call`, and the limiter of a
 * tool's concurrent calls.
 *
 * Owns: every decision of a run: the requests to the model, the calls to start, and when to rebuild, park or stop.
 * Boundary: imports `src/common` and `@temporalio/workflow`, nothing else (a lint rule). All data and all effects are
 * on the other side of an activity; large values pass through as references.
 *
 * Invariants:
 * 1. Every decision depends on recorded events only, so a replay makes the same commands in the same order. The time is
 *    that of the workflow task (`Date.now()`), and length and size of the history are those that Temporal recorded for
 *    it (`workflowInfo()`). No file reads another clock, the environment, or a random number.
 * 2. The configuration of a run is read once, by activity `run.config`. Later deployments of tools or limits do not
 *    change a decision.
 * 3. A module keeps no state: the state of a run is reachable from its workflow function. Each part of a run has a type
 *    `…State` with its data for the next execution of the continue-as-new chain. The constructor of the part takes that
 *    of the execution before.
 * 4. A workflow throws Temporal's failures only. A plain error would fail the workflow task, which Temporal retries
 *    without end.
 * 5. A change of a command, or of the order of commands, must replay the histories in `test/histories`
 *    (`test/integration/replay`).
 */

export { agent } from './agent.js'
export { conversation } from './conversation/workflow.js'
export { call, program } from './program.js'
export { session } from './named-session/workflow.js'
export { toolLimit } from './tool-limit/workflow.js'
