/*
 * `src/evals` owns evals: task files, samples of tasks, their checks, results and statistics.
 *
 * Boundary: runs are started and read by the client library only. The command line gives this folder the clients, and
 * owns workers, configurations, the scripted model and tables. Results are in a database of SQLite.
 *
 * Invariants:
 * 1. A sample is one durable run under a deterministic workflow id, which is recorded before the run starts. A harness
 *    that is started again attaches to it: no model turn is paid twice, and the totals are the same.
 * 2. Only completed verdicts are scored. A failure of the infrastructure, a judge without a verdict, and a run without
 *    a reply of a model are states of their own, and their numbers stand beside each rate.
 * 3. The cost of a sample, with its judges, is reserved before it starts. An unknown cost is never zero: the whole
 *    reservation counts as spent. Each attempt and all sub-agents count.
 * 4. The key of a sample has everything that makes two samples differ: task, files, model, configuration and repeat.
 * 5. Every sample ends: by its verdict, by the time limit of its task, or because it waits for something that its task
 *    does not answer.
 * 6. A sample shares no state with another one: it has its own run, sandbox and user.
 * 7. Task files and results are bounded and checked before they are used, and all problems are reported at once.
 */

export { planEval, runEval, type ArmRuntime, type SampleProgress } from './run-eval.js'
export { loadTasks, type EvalTask } from './tasks/load-tasks.js'
export { checkModels, taskAgents, type TaskAgent } from './tasks/task-agents.js'
export { EvalStore } from './store/eval-store.js'
export type { EvalArm } from './samples/sample.js'
export { judgeAgentName, judgeInstructions, judgeOutput } from './checks/judge.js'
export { scriptOf, scriptNames } from './tasks/task-script.js'
export { compareArms, summarizeEval, type ArmSummary, type Comparison, type EvalSummary } from './report/summarize.js'
