import { toolQueue } from '../common/names.js'
import type { ToolConfig } from '../common/runs/tool-config.js'

/** A task queue that is not one of the engine's roles, and the tools whose calls wait there. */
export interface OwnToolQueue {
  readonly name: string
  readonly type: 'workflow' | 'activity'
  readonly tools: readonly ToolConfig[]
}

/** The task queues of tools that have one of their own (`taskQueue`, `rate`), and of remote tools. */
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

/** Undefined for a Nexus operation: its endpoint has the task queue. */
function queueOf(taskQueue: string, tool: ToolConfig): string | undefined {
  const { remote } = tool
  if (!remote) return toolQueue(taskQueue, tool)
  return 'taskQueue' in remote ? remote.taskQueue : undefined
}
