import { vi } from 'vitest'
import type { Tool } from '../../src/index.js'
import { pollOptions } from './poll-options.js'
import { Deferred, tool, type ToolOptions } from './tools.js'

/** A tool with a concurrency limit or locks, whose calls wait until the test opens it. It counts those that run. */
export interface LimitedTool {
  readonly tool: Tool
  readonly calls: number
  readonly running: number
  /** The maximum number of calls that ran at the same time. */
  readonly most: number
  /** Settles when this many calls have started. */
  started(count: number): Promise<void>
  /** Ends the calls, and later calls after a moment. */
  open(): void
}

export function limitedTool(name: string, limit: number | ToolOptions): LimitedTool {
  const options = typeof limit === 'number' ? { concurrency: limit } : limit
  const gate = new Deferred()
  const counts = { calls: 0, running: 0, most: 0 }
  const run = async (id: unknown): Promise<unknown> => {
    counts.calls += 1
    counts.running += 1
    counts.most = Math.max(counts.most, counts.running)
    await gate.promise
    // Calls that start too early are counted.
    await new Promise((resolve) => setTimeout(resolve, 20))
    counts.running -= 1
    return id
  }
  return {
    tool: tool(name, ({ id }) => run(id), options),
    get calls() {
      return counts.calls
    },
    get running() {
      return counts.running
    },
    get most() {
      return counts.most
    },
    started: async (count) => {
      await vi.waitUntil(() => counts.calls >= count, pollOptions)
    },
    open: () => void gate.resolve(),
  }
}
