import type { Client } from '@temporalio/client'
import { defaultTaskQueue, type Role, roles } from '../../common/names.js'
import { type BackendName, sandboxBackends } from '../../common/run/run-config.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import { pluralize } from '../../common/text/text.js'
import { resolveTemporal } from '../../dev-server/index.js'
import { type Check, failed, ok, warning } from './check.js'
import { connectClient } from '../../client/connect.js'
import {
  describeRoleQueue,
  describeTaskQueue,
  isUnserved,
  type TaskQueueStatus,
} from '../../client/workers/task-queue.js'
import { describeUnservedSandboxes } from '../environment/worker-warnings.js'
import { formatDuration } from '../../common/text/format.js'
import { ownToolQueues } from '../../tools/own-queues.js'
import { idleRoles, type LoadedConfig, findStateDirectory } from '../environment/project.js'

const name = 'Workers'

/**
 * Reports the workers and the backlog of each role. Skipped when the configuration, which has the task queue, can't be
 * loaded. Empty when no server is found: checkTemporal reports that. Never throws.
 */
export async function checkWorkers(
  loadedConfig: LoadedConfig | undefined,
  isConfigBroken: boolean,
): Promise<readonly Check[]> {
  if (isConfigBroken) {
    const reason = "skipped: the task queue is in the configuration, which can't be loaded"
    return [warning(name, reason, 'Correct the configuration, then run `ptc doctor` again.')]
  }
  const server = await resolveTemporal({ stateDirectory: findStateDirectory(), onProgress: () => undefined }).catch(
    () => undefined,
  )
  if (server === undefined) return []
  try {
    const taskQueue = loadedConfig?.taskQueue ?? defaultTaskQueue
    const client = await connectClient(server)
    const queues = await Promise.all(roles.map((role) => describeRoleQueue(client, taskQueue, role)))
    const check = toWorkersCheck(taskQueue, queues, loadedConfig ? idleRoles(loadedConfig) : [], Date.now())
    const backends = [
      ...sandboxBackends,
      ...(loadedConfig?.sandbox.customBackend ? [loadedConfig.sandbox.customBackend.name] : []),
    ]
    return [
      check,
      ...(await checkSandboxQueues(client, taskQueue, backends)),
      ...(await checkToolQueues(client, taskQueue, loadedConfig?.tools.known.toolConfigs() ?? [])),
    ]
  } catch (thrown) {
    return [failed(name, thrown)]
  }
}

/**
 * @param queues one for each role, in the order of `roles`
 * @param idle roles without work
 */
export function toWorkersCheck(
  taskQueue: string,
  queues: readonly TaskQueueStatus[],
  idle: readonly Role[],
  now: number,
): Check {
  const served = roles.flatMap((role, index) => {
    const queue = queues[index]
    return queue === undefined || idle.includes(role) ? [] : [{ role, queue }]
  })
  const missing = served.filter(({ queue }) => queue.pollers === 0 || isUnserved(queue)).map(({ role }) => role)
  const message = [
    `task queue ${taskQueue}`,
    ...served.map(({ role, queue }) => describeWorkers(role, queue, now)),
  ].join('\n')
  if (missing.length === 0) return ok(name, message)
  const option = missing.length === served.length ? '' : ` --roles ${missing.join(',')}`
  return warning(name, message, `Start one with \`ptc worker${option}\`, or everything at once with \`ptc dev\`.`)
}

/** Reports backends that sessions wait for and that no worker has. */
async function checkSandboxQueues(
  client: Client,
  taskQueue: string,
  backends: readonly BackendName[],
): Promise<readonly Check[]> {
  const lines = await describeUnservedSandboxes(client, taskQueue, backends)
  return lines.length === 0
    ? []
    : [warning('Sandbox queues', lines.join('\n'), 'Start a worker with this sandbox: the runs wait for one.')]
}

/** Checks the task queues of remote tools and of tools that have their own. Returns nothing when there are none. */
async function checkToolQueues(
  client: Client,
  taskQueue: string,
  tools: readonly ToolConfig[],
): Promise<readonly Check[]> {
  const queues = await Promise.all(
    ownToolQueues(taskQueue, tools).map(async (queue) => {
      const status = await describeTaskQueue(client, queue.name, queue.type)
      return { toolNames: queue.tools.map((tool) => tool.name), status }
    }),
  )
  return queues.length === 0 ? [] : [toToolQueuesCheck(queues, Date.now())]
}

/** @param queues each queue, with the tools whose calls wait in it */
export function toToolQueuesCheck(
  queues: readonly { readonly toolNames: readonly string[]; readonly status: TaskQueueStatus }[],
  now: number,
): Check {
  const toolQueues = 'Tool queues'
  const lines = queues.map(({ toolNames, status }) =>
    describeWorkers(`${status.taskQueue} (${toolNames.join(', ')})`, status, now),
  )
  const isServed = queues.every(({ status }) => status.pollers > 0 && !isUnserved(status))
  if (isServed) return ok(toolQueues, lines.join('\n'))
  return warning(toolQueues, lines.join('\n'), 'Start the workers that have these activities or workflows.')
}

function describeWorkers(
  role: string,
  { pollers, lastPolledAt, backlog, waitingSince }: TaskQueueStatus,
  now: number,
): string {
  const polled = lastPolledAt === undefined ? '' : `, last poll ${formatDuration(now - lastPolledAt)} ago`
  const workers = pollers === 0 ? 'no worker' : pluralize(pollers, 'worker')
  const waiting =
    waitingSince === undefined
      ? ''
      : `, ${pluralize(backlog, 'task')} waiting, the oldest for ${formatDuration(now - waitingSince)}`
  return `${role}: ${workers}${polled}${waiting}`
}
