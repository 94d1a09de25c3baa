import { createRequire } from 'node:module'
import type { Worker as Thread } from 'node:worker_threads'
import type * as ThreadedVm from '@temporalio/worker/lib/workflow/threaded-vm.js'

/** Maximum milliseconds for which workflow code runs without a pause. */
export const workflowLimitMs = 60_000

const tickMs = 1_000

/** The parts of the SDK's client of a thread that are used here. */
export interface ThreadClient {
  readonly workerThread: Thread
  send(input: unknown): Promise<unknown>
}

let isInstalled = false

/**
 * Lets the main thread watch the time limit of workflow code, for workers with {@link workflowLimitMs}.
 *
 * The SDK gives the limit to Node with each entry into workflow code, and an activation has three or four entries. For
 * each, Node starts a thread that waits, and joins it: half of the processor time of a short activation. When such a
 * limit is reached, Node aborts the process.
 */
export function watchWorkflowThreads(): void {
  if (isInstalled) return
  isInstalled = true
  const creators = creatorsOfSdk()
  if (!creators) return
  const create = creators.create.bind(creators)
  creators.create = async (options) => {
    if (options.isolateExecutionTimeoutMs !== workflowLimitMs) return create(options)
    const { isolateExecutionTimeoutMs: _, ...others } = options
    const creator = await create(others as typeof options) // without a value, Node has no limit
    for (const client of clientsOf(creator)) watchThread(client, workflowLimitMs)
    return creator
  }
}

/**
 * The SDK has no option for this. Undefined with a later SDK of the user that no longer has this module: then Node
 * applies the limit. `workflow-threads.test.ts` fails when an update changes these parts.
 */
function creatorsOfSdk(): typeof ThreadedVm.ThreadedVMWorkflowCreator | undefined {
  try {
    const load = createRequire(import.meta.url) as (path: string) => Partial<typeof ThreadedVm>
    return load('@temporalio/worker/lib/workflow/threaded-vm.js').ThreadedVMWorkflowCreator
  } catch {
    return undefined
  }
}

function clientsOf(creator: ThreadedVm.ThreadedVMWorkflowCreator): readonly ThreadClient[] {
  return (creator as unknown as { readonly workerThreadClients: readonly ThreadClient[] }).workerThreadClients
}

/**
 * Ends a thread that has requests and answers none of them for a time. Then every request of the thread fails, and its
 * worker ends. Time in which the main thread is blocked does not count.
 */
export function watchThread(client: ThreadClient, limitMs: number): void {
  const { workerThread } = client
  const send = client.send.bind(client)
  let requests = 0
  let silentMs = 0
  client.send = async (input) => {
    requests += 1
    try {
      return await send(input)
    } finally {
      requests -= 1
      silentMs = 0
    }
  }
  const interval = Math.min(tickMs, limitMs)
  const timer = setInterval(() => {
    silentMs = requests === 0 ? 0 : silentMs + interval
    if (silentMs <= limitMs) return
    clearInterval(timer)
    // The SDK logs the error, and fails the requests with it.
    workerThread.emit('error', new Error(`workflow code ran for ${limitMs / 1_000} seconds without a pause`))
    void workerThread.terminate()
  }, interval).unref()
  workerThread.once('exit', () => clearInterval(timer))
}
