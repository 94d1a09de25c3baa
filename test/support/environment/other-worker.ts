import type { Client } from '@temporalio/client'
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import { onTestFinished } from 'vitest'
import { sharedServer, uniqueName } from '../temporal/shared-server.js'

/**
 * Starts the worker of another team on the shared server. It has no code of this package.
 *
 * @param onCleanup registers the function that ends the worker; default: at the end of the test
 */
export async function startOtherWorker(
  options: Omit<WorkerOptions, 'connection' | 'namespace'>,
  onCleanup: (end: () => Promise<void>) => void = onTestFinished,
): Promise<void> {
  const { namespace, address } = sharedServer()
  const connection = await NativeConnection.connect({ address })
  onCleanup(() => connection.close())
  const worker = await Worker.create({ connection, namespace, ...options })
  const ended = worker.run()
  onCleanup(() => {
    worker.shutdown()
    return ended
  })
}

/** Creates a Nexus endpoint for the workers of a task queue, and returns its name. */
export async function createNexusEndpoint({ connection, options }: Client, taskQueue: string): Promise<string> {
  const name = uniqueName('endpoint')
  const { namespace } = options
  await connection.operatorService.createNexusEndpoint({ spec: { name, target: { worker: { namespace, taskQueue } } } })
  return name
}
