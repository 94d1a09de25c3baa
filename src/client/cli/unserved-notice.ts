import { programRoles, type Role, roles } from '../../common/names.js'
import { queueOfUntakenTask } from '../missing-worker.js'
import { describeRole, isUnserved } from '../pollers.js'
import { describeUnserved } from '../render/index.js'
import type { RunInfo } from '../run-info.js'
import type { Execution } from '../history-pages.js'
import type { Place } from './place.js'
import { say } from './terminal.js'

/** Says which roles no worker serves, when a run of the list may have to wait for them. */
export async function sayUnserved({ client, ptc: { taskQueue } }: Place, runs: readonly RunInfo[]): Promise<void> {
  const running = runs.filter(({ status }) => status === 'running')
  if (running.length === 0) return
  const wanted: readonly Role[] = running.some(({ type }) => type === 'agent') ? roles : programRoles
  const now = Date.now()
  const lines = await Promise.all(
    wanted.map(async (role) => {
      const queue = await describeRole(client, taskQueue, role)
      // A worker without tools does not poll for them.
      const isMissing = queue.pollers === 0 && role !== 'tools'
      return isMissing || isUnserved(queue) ? [`ptc: ${describeUnserved({ ...queue, role }, now)}`] : []
    }),
  )
  for (const line of lines.flat()) say(line)
}

/** Says that no worker takes what a run was told. True when it did. */
export async function sayUntaken({ client }: Place, execution: Execution): Promise<boolean> {
  const queue = await queueOfUntakenTask(client, execution)
  if (queue === undefined) return false
  say(`ptc: ${describeUnserved({ ...queue, role: 'workflow' }, Date.now())}`)
  return true
}
