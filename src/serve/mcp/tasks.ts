import {
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type Server,
  type Task,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import type { RunInfo } from '../../client/index.js'
import { followWork } from './follow.js'
import type { McpHost } from './host.js'
import { errorResult } from './results.js'
import { formatWorkId, parseWorkId, type WorkId } from './work-id.js'

/*
 * Tasks of the protocol of 2025-11-25: a task is durable work, and its id that of the work. The server keeps no list
 * of tasks, so tasks outlive it, and any server of the task queue knows them.
 */

/** Milliseconds between two requests for the state of a task. */
const pollInterval = 1_000

/** The result of a request that created a task: `CreateTaskResult` of the protocol, without content. */
export function createTask(id: WorkId): CallToolResult {
  return { content: [], task: toTask(id, 'working', new Date(), new Date()) }
}

function toTask(id: WorkId, status: Task['status'], createdAt: Date, lastUpdatedAt: Date): Task {
  return {
    taskId: formatWorkId(id),
    status,
    // Temporal keeps an ended run for the retention of its namespace, which the server does not know.
    ttl: null,
    createdAt: createdAt.toISOString(),
    lastUpdatedAt: lastUpdatedAt.toISOString(),
    pollInterval,
  }
}

const taskParams = z.looseObject({ taskId: z.string().max(500) })
const listParams = z.looseObject({ cursor: z.string().max(500).optional() }).optional()
const maxListed = 100

/** Answers requests about tasks. */
export function registerTasks(server: Server, host: McpHost): void {
  server.setRequestHandler('tasks/get', { params: taskParams }, ({ taskId }) =>
    answer(async () => describeTask(host, parseWorkId(taskId))),
  )
  server.setRequestHandler('tasks/result', { params: taskParams }, ({ taskId }, { mcpReq }) =>
    answer(async () => taskResult(host, parseWorkId(taskId), mcpReq.signal)),
  )
  server.setRequestHandler('tasks/cancel', { params: taskParams }, ({ taskId }) =>
    answer(async () => cancelTask(host, parseWorkId(taskId))),
  )
  server.setRequestHandler('tasks/list', { params: listParams }, () =>
    answer(async () => {
      const runs = await host.ptc.list({ limit: maxListed, type: 'agent' })
      return { tasks: runs.map(runTask) }
    }),
  )
}

async function describeTask(host: McpHost, id: WorkId): Promise<Task> {
  if (id.type === 'run') return runTask(await host.ptc.handle(id.workflowId).describe())
  const ended = await endOfCode(host, id)
  return toTask(id, ended ? (ended.isError ? 'failed' : 'completed') : 'working', new Date(), new Date())
}

/** Code that has not ended within this time is running. */
const probeMs = 500

async function endOfCode(host: McpHost, id: WorkId): Promise<CallToolResult | undefined> {
  const leaveSignal = AbortSignal.timeout(probeMs)
  try {
    return await follow(host, id, leaveSignal)
  } catch (thrown) {
    if (leaveSignal.aborted) return undefined
    throw thrown
  }
}

const statuses: Readonly<Partial<Record<RunInfo['status'], Task['status']>>> = {
  completed: 'completed',
  cancelled: 'cancelled',
  failed: 'failed',
  terminated: 'failed',
  timed_out: 'failed',
}

function runTask({ workflowId, status, startedAt, endedAt, state }: RunInfo): Task {
  const id = { type: 'run', workflowId } as const
  const task = toTask(id, statuses[status] ?? 'working', startedAt, endedAt ?? new Date())
  return state === status ? task : { ...task, statusMessage: state.replaceAll('_', ' ') }
}

async function taskResult(host: McpHost, id: WorkId, signal: AbortSignal): Promise<CallToolResult> {
  const result = await follow(host, id, signal).catch((thrown: unknown) => {
    if (PtcError.isInstance(thrown) && thrown.code !== 'TEMPORAL_NOT_FOUND') return errorResult(thrown)
    throw thrown
  })
  const { _meta: meta } = result
  return { ...result, _meta: { ...meta, 'io.modelcontextprotocol/related-task': { taskId: formatWorkId(id) } } }
}

async function follow(
  host: McpHost,
  id: WorkId,
  leaveSignal: AbortSignal,
  cancelSignal = new AbortController().signal,
): Promise<CallToolResult> {
  const { outputCharacters } = await host.tools()
  const nothing = (): void => undefined
  const options = { onStarted: nothing, onChange: nothing, leaveSignal, cancelSignal }
  return followWork(host, id, outputCharacters)(options)
}

/** Milliseconds in which most work has stopped. */
const cancelMs = 2_000

async function cancelTask(host: McpHost, id: WorkId): Promise<Task> {
  await follow(host, id, AbortSignal.timeout(cancelMs), AbortSignal.abort()).catch(() => undefined)
  return { ...(await describeTask(host, id)), status: 'cancelled' }
}

/** Errors of requests about tasks are errors of the protocol. */
async function answer<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    if (!PtcError.isInstance(thrown)) throw thrown
    const isUnknown = thrown.code === 'TEMPORAL_NOT_FOUND' || thrown.code === 'RUN_INPUT_INVALID'
    throw new ProtocolError(
      isUnknown ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      thrown.message,
    )
  }
}
