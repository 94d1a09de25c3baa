import type { CallPosition } from './calls/calls.js'
import type { BackendChoice, BackendName } from './run/run-config.js'
import type { ToolConfig } from './calls/tool-config.js'

/** The language of the code of runs that name none. */
export const defaultLanguageName = 'python'

export const workflowNames = {
  agent: 'agent',
  program: 'program',
  session: 'session',
  conversation: 'conversation',
  call: 'call',
} as const

/** The type of the workflow that limits the concurrent calls of one tool. It is not a run. */
export const toolLimitWorkflow = 'toolLimit'

/** The types of all workflows of the engine. `src/workflows/index.ts` exports the workflows. */
export const allWorkflowNames: readonly string[] = [...Object.values(workflowNames), toolLimitWorkflow]

export const toolLimitMessages = { request: 'request', release: 'release' } as const

/** Messages of workflow `session`: update `execute`, signals `interrupt` and `close`, query `inspect`. */
export const sessionMessages = {
  execute: 'execute',
  interrupt: 'interrupt',
  close: 'close',
  inspect: 'inspect',
} as const

/** Messages of a run with files: an update and a query. Workflows of users also get them. */
export const filesMessages = { upload: 'ptc.files.upload', list: 'ptc.files.list' } as const

/** Messages of workflow `conversation`: three updates, two signals, two queries. */
export const conversationMessages = {
  send: 'send',
  answer: 'answer',
  reset: 'reset',
  interrupt: 'interrupt',
  close: 'close',
  status: 'status',
  history: 'history',
} as const

/**
 * The update that completes a deferred call. Workflows of users also get it, so the name must not collide with theirs.
 */
export const completeCallUpdate = 'ptc.completeCall'

/** The update by which the activity of a call asks the workflow for a reply of its model. */
export const sampleUpdate = 'ptc.sample'

/** The query for what a workflow waits for from outside. */
export const waitsQuery = 'ptc.waits'

/** The update that raises the budget of a run, and the query for it. */
export const budgetMessage = 'ptc.budget'

/** The signal by which a sub-agent that ends without a result reports its usage to the parent. */
export const subagentUsageSignal = 'ptc.subagentUsage'

/** The signal that answers the request for a slot of a tool. */
export const slotAnswerSignal = 'ptc.slotAnswer'

/**
 * The signal to the owner of a session: a cell of another run, the interruption of a cell, or a check whether a cell
 * has ended.
 */
export const cellMessageSignal = 'ptc.cell'

/** The signal that reports to a run the end of its cell in the session of another workflow. */
export const cellReplySignal = 'ptc.cellReply'

/** Keys of a run's memo. Listing runs returns their memos without further requests. */
export const memoKeys = {
  /** First 200 characters of the question or program. */
  summary: 'summary',
  /** Start of the first execution of a run that continued as new; ISO 8601. */
  startedAt: 'startedAt',
  /** The status of a run that completed without success: `code_error`, `turn_limit` and so on. */
  outcome: 'outcome',
  /** Tool, position and idempotency key, for a workflow that executes the call of a remote tool. */
  call: 'call',
  /** Number and list of the failed compensations of a run. */
  notCompensated: 'notCompensated',
  /** A `BudgetPause`, for a run that waits for a larger budget. */
  paused: 'paused',
  /** A `Requester`, from the context of the run. */
  requester: 'requester',
} as const

/**
 * Key in heartbeat details and result metadata. Its value names the code that blocked the worker's event loop during
 * the activity.
 */
export const eventLoopBlockKey = 'blocked'

/** Key in heartbeat details. Its value is the reason why the activity waits while it retries by itself. */
export const waitNoteKey = 'waits'

export const defaultTaskQueue = 'durable-ptc'

/**
 * The engine's own activity types. A tool can't have such a name, because the activity type of a tool is the tool's
 * name.
 */
export const activityNames = {
  loadRunConfig: 'run.config',
  modelTurn: 'model.turn',
  compactMessages: 'model.compact',
  sample: 'model.sample',
  readMore: 'result.page',
  searchTools: 'tool.search',
  openSession: 'session.open',
  executeStep: 'session.step',
  interruptSession: 'session.interrupt',
  parkSession: 'session.park',
  snapshotSession: 'session.snapshot',
  storeFiles: 'session.files',
  closeSession: 'session.close',
  startSession: 'session.start',
  appendJournal: 'journal.append',
  joinText: 'output.join',
  loadValue: 'value.load',
  checkToolResult: 'tool.result',
  prepareArguments: 'tool.arguments',
  requestSlot: 'tool.slot',
  auditCall: 'audit.call',
  requestApproval: 'tool.approval',
  announceQuestion: 'tool.question',
  checkAnswer: 'tool.answer',
  clientCall: 'tool.client',
  announcePause: 'run.pause',
} as const

export const executeCodeTool = 'execute_code'

/** The name of the tool with which the model delivers an answer that has a schema, or that ends autonomous work. */
export const submitAnswerTool = 'submit_answer'

export const giveUpTool = 'give_up'

export const submitPlanTool = 'submit_plan'

/** The tools with which the model reports the state of its task. The workflow does not execute them. */
export const taskTools: readonly string[] = [submitAnswerTool, giveUpTool, submitPlanTool]

/** The name of the tool with which the model reads the rest of a truncated result. */
export const readMoreTool = 'read_more'

/** The name of the tool with which the model searches the documentation of tools. */
export const searchToolsTool = 'search_tools'

/** The name of the tool by which a model with several sandboxes gives all of them a file of one. */
export const shareFileTool = 'share_file'

/** The names of the tools with which the model activates and deactivates skills. Only runs with skills have them. */
export const activateSkillTool = 'activate_skill'
export const deactivateSkillTool = 'deactivate_skill'

/** The model of runs without an API key, which get scripted replies. It has no price. */
export const scriptedModelName = 'scripted (no API key)'

/**
 * Valid tool names, including the names of other tool servers. Code, and APIs that refuse some characters, use another
 * name for the tool.
 */
export const toolNamePattern = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,63}$/

/** Valid names of sessions and conversations. They are a part of the id of a workflow. */
export const entityNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** Valid names of sandbox backends. They are a part of the names of task queues. */
export const backendNamePattern = /^[a-z][a-z0-9-]{0,39}$/

/** The roles of a worker. A worker may have several. */
export const roles = ['workflow', 'model', 'tools', 'sandbox'] as const

export type Role = (typeof roles)[number]

/** The role of the activities that serve calls of client tools. A worker without tools polls no queue of tools. */
export const clientToolRole: Role = 'workflow'

/** The roles that workflow `program` needs. */
export const programRoles = ['workflow', 'tools', 'sandbox'] as const satisfies readonly Role[]

/**
 * Returns the task queue of a role's activities. Tool calls are on the task queue of the workflows themselves: a worker
 * with both roles gets them with the response to its workflow task (Temporal's eager activity dispatch).
 */
export function roleQueue(taskQueue: string, role: Role): string {
  return role === 'tools' ? taskQueue : `${taskQueue}.${role}`
}

/**
 * Returns the task queue of a tool's calls: the queue of the workflows, or a separate queue of the tool. The server
 * limits the rate of a whole task queue, so a tool with a rate always has a separate queue.
 */
export function toolQueue(taskQueue: string, tool: Pick<ToolConfig, 'name' | 'taskQueue' | 'rate'>): string {
  return tool.taskQueue ?? (tool.rate ? `${taskQueue}.tool.${tool.name}` : roleQueue(taskQueue, 'tools'))
}

/**
 * Returns the workflow id of a named session. It contains the task queue: projects with different task queues in one
 * namespace can use the same names. The part after the last colon is the name, which contains no colon.
 */
export function namedSessionId(taskQueue: string, name: string): string {
  return `session:${taskQueue}:${name}`
}

export function isNamedSessionId(workflowId: string): boolean {
  return workflowId.startsWith('session:')
}

/** Returns the workflow id of the limiter of a tool: one for each task queue of workflows. */
export function toolLimitId(taskQueue: string, tool: string): string {
  return `tool-limit:${taskQueue}:${tool}`
}

/** Workflow id of the limiter of a tool. Tools that share their locks share one limiter, too. */
export function limiterOf(taskQueue: string, { name, lock }: Pick<ToolConfig, 'name' | 'lock'>): string {
  return lock?.sharedAs === undefined ? toolLimitId(taskQueue, name) : `tool-locks:${taskQueue}:${lock.sharedAs}`
}

/**
 * Returns the task queue for opening sandboxes. Only workers that have the backend poll the queue of a backend; workers
 * with any backend poll the queue of `auto`.
 */
export function sandboxQueue(taskQueue: string, backend: BackendChoice): string {
  const queue = roleQueue(taskQueue, 'sandbox')
  return backend === 'auto' ? queue : `${queue}.${backend}`
}

/** Returns the backend of a queue from {@link sandboxQueue}; undefined for any other queue. */
export function backendOfQueue(taskQueue: string, queue: string): BackendChoice | undefined {
  const any = sandboxQueue(taskQueue, 'auto')
  if (queue === any) return 'auto'
  return queue.startsWith(`${any}.`) ? queue.slice(any.length + 1) : undefined
}

/**
 * Returns the task queue of the sessions with this backend on the host with this id. Workers of the host that lack the
 * backend do not poll it: for them, the sandboxes are lost.
 */
export function hostQueue(taskQueue: string, hostId: string, backend: BackendName): string {
  return `${hostQueuePrefix(taskQueue)}${hostId}.${backend}`
}

function hostQueuePrefix(taskQueue: string): string {
  return `${taskQueue}.host.`
}

/** Returns whether durable-ptc itself uses the queue. A tool may not have such a queue. */
export function isReservedQueue(taskQueue: string, queue: string): boolean {
  return (
    roles.some((role) => roleQueue(taskQueue, role) === queue) ||
    backendOfQueue(taskQueue, queue) !== undefined ||
    queue.startsWith(hostQueuePrefix(taskQueue))
  )
}

/** Returns the activity id of a call: readable in the Temporal UI, and unique in a run. */
export function callActivityId({ turn, cell, index }: CallPosition): string {
  return cell === 0 ? `turn-${turn}.direct-${index}` : `turn-${turn}.cell-${cell}.call-${index}`
}

/**
 * Returns the workflow id of a call that is a child workflow. It is the same when an execution repeats the call after a
 * reset.
 */
export function callWorkflowId(tool: string, idempotencyKey: string): string {
  return `${tool}-${idempotencyKey}`
}

export function approvalActivityId(position: CallPosition): string {
  return `${callActivityId(position)}.approval`
}

export function questionActivityId(position: CallPosition, number: number): string {
  return `${callActivityId(position)}.question-${number}`
}

export function compensationActivityId(position: CallPosition): string {
  return `${callActivityId(position)}.compensate`
}

/**
 * Returns the activity type of the compensations of a tool. It differs from the type of its calls, so that a worker
 * without compensations never repeats the call instead.
 */
export function compensationActivity(tool: string): string {
  return `${tool}.compensate`
}

const activityIdPattern = /^turn-(\d+)\.(?:direct-(\d+)|cell-(\d+)\.call-(\d+))$/

/** Returns the position in an activity id from {@link callActivityId}; undefined for any other id. */
export function parseCallActivityId(activityId: string): CallPosition | undefined {
  const [, turn, direct, cell = '0', call] = activityIdPattern.exec(activityId) ?? []
  const index = direct ?? call
  return index === undefined ? undefined : { turn: Number(turn), cell: Number(cell), index: Number(index) }
}

/**
 * The message of a worker that can't answer a query now (`src/workflows/temporal/query-guard.ts`). The client may send
 * the query again.
 */
export const queryRefusedMessage = 'The query came between two workflow tasks. Ask again.'
