import type { CallPosition } from './calls.js'

/** Workflow types. */
export const workflowNames = { agent: 'agent', program: 'program', session: 'session' } as const

/** What workflow `session` is told and asked: an update, two signals, a query. */
export const sessionMessages = {
  execute: 'execute',
  interrupt: 'interrupt',
  close: 'close',
  inspect: 'inspect',
} as const

/** Keys of a run's memo. A list of runs has the memo of each without another request. */
export const memoNames = {
  /** First 200 characters of the question or program. */
  summary: 'summary',
  /** When a run that went on in a fresh history began; ISO 8601. */
  startedAt: 'startedAt',
  /** Why a run that completed was no success: `code_error`, `turn_limit` and so on. */
  outcome: 'outcome',
} as const

/** Key of heartbeat details, and of a result's metadata: what blocked the worker's event loop during the activity. */
export const blockedNote = 'blocked'

/** The task queue that workflows, models and tools are served from unless configured otherwise. */
export const defaultTaskQueue = 'durable-ptc'

/**
 * The engine's own activity types. Each has a dot, which no tool name can have, so a tool's activity is simply
 * called by the tool's name.
 */
export const activityNames = {
  planRun: 'run.plan',
  modelTurn: 'model.turn',
  openSession: 'session.open',
  advanceSession: 'session.advance',
  interruptSession: 'session.interrupt',
  parkSession: 'session.park',
  snapshotSession: 'session.snapshot',
  closeSession: 'session.close',
  appendJournal: 'journal.append',
  joinText: 'output.join',
} as const

/** The name of the model's code tool. */
export const executeCodeTool = 'execute_code'

/** Tool names: a Python and JavaScript identifier that the Messages API takes too. */
export const toolNamePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** What a worker can be for. A worker with every role is a fleet of one. */
export const roles = ['workflow', 'model', 'tools', 'sandbox'] as const

export type Role = (typeof roles)[number]

/** What workflow `program` needs: all but a model. */
export const programRoles = ['workflow', 'tools', 'sandbox'] as const satisfies readonly Role[]

/** The queue a role is served from: workflows on the queue itself, the rest beside it. */
export function roleQueue(taskQueue: string, role: Role): string {
  return role === 'workflow' ? taskQueue : `${taskQueue}.${role}`
}

/** The queue that only workers with this host identity serve. */
export function hostQueue(taskQueue: string, hostId: string): string {
  return `${taskQueue}.host.${hostId}`
}

/** The activity id of a call: readable in the Temporal UI, unique in a run. */
export function callActivityId({ turn, cell, index }: CallPosition): string {
  return cell === 0 ? `turn-${turn}.direct-${index}` : `turn-${turn}.cell-${cell}.call-${index}`
}
