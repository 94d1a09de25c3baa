import { toolQueue } from '../common/names.js'
import type { ToolConfig } from '../common/calls/tool-config.js'

/** A task queue that is not one of the engine's roles, and the tools whose calls wait in it. */
export interface OwnToolQueue {
  readonly name: string
  readonly type: 'workflow' | 'activity'
  readonly tools: readonly ToolConfig[]
}

/** The task queues of remote tools, and of tools with their own queue (`taskQueue`, `rate`). */
export function ownToolQueues(taskQueue: string, tools: readonly ToolConfig[]): readonly OwnToolQueue[] {
  const queues = new Map<string, OwnToolQueue>()
  for (const tool of tools) {
    const name = queueOf(taskQueue, tool)
    if (name === undefined || name === taskQueue) continue
    const type = tool.remote?.kind === 'workflow' ? 'workflow' : 'activity'
    const key = `${type} ${name}`
    queues.set(key, { name, type, tools: [...(queues.get(key)?.tools ?? []), tool] })
  }
  return [...queues.values()]
}

/** @returns undefined for a Nexus operation, whose endpoint has the task queue */
function queueOf(taskQueue: string, tool: ToolConfig): string | undefined {
  const { remote } = tool
  if (!remote) return toolQueue(taskQueue, tool)
  return 'taskQueue' in remote ? remote.taskQueue : undefined
}
