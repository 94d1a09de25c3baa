import { messageOf } from '../../common/errors.js'
import { defaultTaskQueue, type Role, roles } from '../../common/names.js'
import { plural } from '../../common/text.js'
import { resolveTemporal } from '../../worker/dev-server/index.js'
import { type Check, failed, ok, warning } from '../../worker/doctor/index.js'
import { connectClient } from '../connect.js'
import { describeRole, isUnserved, type QueueState } from '../pollers.js'
import { formatDuration } from '../render/index.js'
import { findConfig, type LoadedConfig, stateDirectory } from './project.js'

const name = 'Workers'

/**
 * Who serves each role, and what waits; skipped when the configuration, which has the task queue, can't be loaded.
 * Empty where no server is found: that is another check's to say. Never throws.
 */
export async function checkWorkers(config: string | undefined): Promise<readonly Check[]> {
  let found: LoadedConfig | undefined
  try {
    found = await findConfig(config)
  } catch (thrown) {
    const why = `skipped: the task queue is in the configuration, which can't be loaded: ${messageOf(thrown)}`
    return [warning(name, why, 'Correct the configuration, then run `ptc doctor` again.')]
  }
  const server = await resolveTemporal({ stateDirectory: stateDirectory(), onProgress: () => undefined }).catch(
    () => undefined,
  )
  if (server === undefined) return []
  try {
    const taskQueue = found?.taskQueue ?? defaultTaskQueue
    const client = await connectClient(server)
    const queues = await Promise.all(roles.map((role) => describeRole(client, taskQueue, role)))
    return [judgeWorkers(taskQueue, queues, found?.registry.names.length === 0, Date.now())]
  } catch (thrown) {
    return [failed(name, thrown)]
  }
}

/** @param queues of the roles, in their order @param hasNoTools then no worker polls for them */
export function judgeWorkers(
  taskQueue: string,
  queues: readonly QueueState[],
  hasNoTools: boolean,
  now: number,
): Check {
  const served = roles.flatMap((role, place) => {
    const queue = queues[place]
    return queue === undefined || (role === 'tools' && hasNoTools) ? [] : [{ role, queue }]
  })
  const missing = served.filter(({ queue }) => queue.pollers === 0 || isUnserved(queue)).map(({ role }) => role)
  const message = [`task queue ${taskQueue}`, ...served.map(({ role, queue }) => inWords(role, queue, now))].join('\n')
  if (missing.length === 0) return ok(name, message)
  const option = missing.length === served.length ? '' : ` --roles ${missing.join(',')}`
  return warning(name, message, `Start one with \`ptc worker${option}\`, or everything at once with \`ptc dev\`.`)
}

function inWords(role: Role, { pollers, lastPolledAt, backlog, waitingSince }: QueueState, now: number): string {
  const polled = lastPolledAt === undefined ? '' : `, last poll ${formatDuration(now - lastPolledAt)} ago`
  const workers = pollers === 0 ? 'no worker' : plural(pollers, 'worker')
  const waiting =
    waitingSince === undefined
      ? ''
      : `, ${plural(backlog, 'task')} waiting, the oldest for ${formatDuration(now - waitingSince)}`
  return `${role}: ${workers}${polled}${waiting}`
}
