import type { CallPosition } from './calls/calls.js'
import type { BackendChoice, BackendName } from './runs/run-config.js'
import type { ToolConfig } from './runs/tool-config.js'

/** Workflow types. */
export const workflowNames = {
  agent: 'agent',
  program: 'program',
  session: 'session',
  conversation: 'conversation',
} as const

/** The type of the workflow that limits the concurrent calls of one tool. It is no run. */
export const toolLimitWorkflow = 'toolLimit'

/** The types of all our workflows: `src/workflows/index.ts` exports them. */
export const allWorkflowNames: readonly string[] = [...Object.values(workflowNames), toolLimitWorkflow]

/** Signals of workflow `toolLimit`. */
export const toolLimitMessages = { request: 'request', release: 'release' } as const

/** Messages of workflow `session`: update `execute`, signals `interrupt` and `close`, query `inspect`. */
export const sessionMessages = {
  execute: 'execute',
  interrupt: 'interrupt',
  close: 'close',
  inspect: 'inspect',
} as const

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

/** The update that completes a deferred call. Workflows of users have it, too, so it must not be a name of theirs. */
export const completeCallUpdate = 'ptc.completeCall'

/** The update that raises the budget of a run, and the query for it. */
export const budgetMessage = 'ptc.budget'

/** The signal by which a sub-agent that ends without a result tells its parent what it has used. */
export const subagentUsageSignal = 'ptc.subagentUsage'

/** The signal that answers the request for a slot of a tool. */
export const slotAnswerSignal = 'ptc.slotAnswer'

/**
 * The signal to the owner of a session: a cell of another run, its interruption, or the question whether it has ended.
 */
export const cellMessageSignal = 'ptc.cell'

/** The signal that tells a run how its cell in the session of another workflow ended. */
export const cellReplySignal = 'ptc.cellReply'

/** Keys of a run's memo. Listing runs returns their memos without further requests. */
export const memoKeys = {
  /** First 200 characters of the question or program. */
  summary: 'summary',
  /** Start of the first execution of a run that continued as new; ISO 8601. */
  startedAt: 'startedAt',
  /** The status of a run that completed without success: `code_error`, `turn_limit` and so on. */
  outcome: 'outcome',
  /** Of a workflow that executes the call of a remote tool: the tool, the position and the idempotency key. */
  call: 'call',
  /** Of a run whose compensations failed: how many, and which. */
  notCompensated: 'notCompensated',
  /** Of a run that waits for a larger budget: a `BudgetPause`. */
  paused: 'paused',
  /** Who asks for the run, as its context says: a `Requester`. */
  requester: 'requester',
} as const

/** Key in heartbeat details and result metadata: what blocked the worker's event loop during the activity. */
export const eventLoopBlockKey = 'blocked'

/** Key in heartbeat details: what the activity waits for while it tries again by itself. */
export const waitNoteKey = 'waits'

/** The default task queue. */
export const defaultTaskQueue = 'durable-ptc'

/** The engine's own activity types. No tool has such a name: the activity type of a tool is the tool's name. */
export const activityNames = {
  loadRunConfig: 'run.config',
  modelTurn: 'model.turn',
  compactMessages: 'model.compact',
  readMore: 'result.page',
  searchTools: 'tool.search',
  openSession: 'session.open',
  executeStep: 'session.step',
  interruptSession: 'session.interrupt',
  parkSession: 'session.park',
  snapshotSession: 'session.snapshot',
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
  clientCall: 'tool.client',
  announcePause: 'run.pause',
} as const

/** The name of the model's code tool. */
export const executeCodeTool = 'execute_code'

/** The name of the tool with which the model delivers an answer that has a schema, or that ends autonomous work. */
export const submitAnswerTool = 'submit_answer'

/** The name of the tool with which the model gives up. */
export const giveUpTool = 'give_up'

/** The name of the tool with which the model submits a plan. */
export const submitPlanTool = 'submit_plan'

/** The tools with which the model says how far its task is. The workflow executes none of them. */
export const taskTools: readonly string[] = [submitAnswerTool, giveUpTool, submitPlanTool]

/** The name of the tool with which the model reads the rest of a result that was cut. */
export const readMoreTool = 'read_more'

/** The name of the tool with which the model searches the documentation of tools. */
export const searchToolsTool = 'search_tools'

/** The model of runs that begin without an API key and get scripted replies. It has no price. */
export const scriptedModelName = 'scripted (no API key)'

/** Tool names: those of other tool servers, too. Code, and APIs that refuse some of them, know the tool by another. */
export const toolNamePattern = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,63}$/

/** Names of sessions and conversations, which are a part of the id of a workflow. */
export const entityNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** Names of sandbox backends, which are a part of the names of task queues. */
export const backendNamePattern = /^[a-z][a-z0-9-]{0,39}$/

/** The roles of a worker. A worker may have several. */
export const roles = ['workflow', 'model', 'tools', 'sandbox'] as const

export type Role = (typeof roles)[number]

/** The role whose activities serve calls of client tools: a worker without tools of its own polls no queue of tools. */
export const clientToolRole: Role = 'workflow'

/** The roles that workflow `program` needs. */
export const programRoles = ['workflow', 'tools', 'sandbox'] as const satisfies readonly Role[]

/**
 * The task queue of a role's activities. Tool calls are on the task queue of the workflows themselves: a worker with
 * both roles gets them with the response to its workflow task (Temporal's eager activity dispatch).
 */
export function roleQueue(taskQueue: string, role: Role): string {
  return role === 'tools' ? taskQueue : `${taskQueue}.${role}`
}

/**
 * The task queue of a tool's calls: that of the workflows, unless the tool has one of its own. The server limits the
 * rate of a whole task queue, so a tool with a rate always has its own.
 */
export function toolQueue(taskQueue: string, tool: Pick<ToolConfig, 'name' | 'taskQueue' | 'rate'>): string {
  return tool.taskQueue ?? (tool.rate ? `${taskQueue}.tool.${tool.name}` : roleQueue(taskQueue, 'tools'))
}

/**
 * Workflow id of a named session. It contains the task queue: projects with different task queues in one namespace can
 * use the same names. The part after the last colon is the name, which contains no colon.
 */
export function namedSessionId(taskQueue: string, name: string): string {
  return `session:${taskQueue}:${name}`
}

export function isNamedSessionId(workflowId: string): boolean {
  return workflowId.startsWith('session:')
}

/** Workflow id of the limiter of a tool: one for each task queue of workflows. */
export function toolLimitId(taskQueue: string, tool: string): string {
  return `tool-limit:${taskQueue}:${tool}`
}

/**
 * The task queue for opening sandboxes. Only workers that have the backend poll the queue of a backend; workers with
 * any backend poll that of `auto`.
 */
export function sandboxQueue(taskQueue: string, backend: BackendChoice): string {
  const queue = roleQueue(taskQueue, 'sandbox')
  return backend === 'auto' ? queue : `${queue}.${backend}`
}

/** The backend of a queue from {@link sandboxQueue}; undefined for any other queue. */
export function backendOfQueue(taskQueue: string, queue: string): BackendChoice | undefined {
  const any = sandboxQueue(taskQueue, 'auto')
  if (queue === any) return 'auto'
  return queue.startsWith(`${any}.`) ? queue.slice(any.length + 1) : undefined
}

/**
 * The task queue of the sessions with this backend on the host with this id. Workers of the host that lack the backend
 * do not poll it: to them, the sandboxes are lost.
 */
export function hostQueue(taskQueue: string, hostId: string, backend: BackendName): string {
  return `${hostQueuePrefix(taskQueue)}${hostId}.${backend}`
}

function hostQueuePrefix(taskQueue: string): string {
  return `${taskQueue}.host.`
}

/** Whether the queue is one of durable-ptc's own, which no tool may have. */
export function isReservedQueue(taskQueue: string, queue: string): boolean {
  return (
    roles.some((role) => roleQueue(taskQueue, role) === queue) ||
    backendOfQueue(taskQueue, queue) !== undefined ||
    queue.startsWith(hostQueuePrefix(taskQueue))
  )
}

/** The activity id of a call: readable in the Temporal UI, unique in a run. */
export function callActivityId({ turn, cell, index }: CallPosition): string {
  return cell === 0 ? `turn-${turn}.direct-${index}` : `turn-${turn}.cell-${cell}.call-${index}`
}

/** The workflow id of a call that is a child workflow. The same in an execution that repeats the call after a reset. */
export function callWorkflowId(tool: string, idempotencyKey: string): string {
  return `${tool}-${idempotencyKey}`
}

/** The activity id of the request for the approval of a call. */
export function approvalActivityId(position: CallPosition): string {
  return `${callActivityId(position)}.approval`
}

/** The activity id of the compensation of a call. */
export function compensationActivityId(position: CallPosition): string {
  return `${callActivityId(position)}.compensate`
}

/**
 * The activity type of the compensations of a tool: not that of its calls, so that a worker without compensations never
 * repeats the call instead.
 */
export function compensationActivity(tool: string): string {
  return `${tool}.compensate`
}

const activityIdPattern = /^turn-(\d+)\.(?:direct-(\d+)|cell-(\d+)\.call-(\d+))$/

/** The position in an activity id from {@link callActivityId}; undefined for any other id. */
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
