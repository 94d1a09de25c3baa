import { randomUUID } from 'node:crypto'
import { Client, Connection } from '@temporalio/client'
import type { DataConverter } from '@temporalio/common'
import { NativeConnection } from '@temporalio/worker'
import { inject, onTestFinished, test } from 'vitest'
import { connectClient as connect } from '../../../src/client/connect.js'

/** The Temporal server that all tests share: names must be unique, and no list is empty. */
export function sharedServer(): { readonly address: string; readonly namespace: string } {
  return inject('temporal')
}

/** A client of the shared server or of another one. Close its connection, or use {@link temporalTest}, which does. */
export function connectClient(dataConverter?: DataConverter, address = sharedServer().address): Promise<Client> {
  const { namespace } = sharedServer()
  return connect({ address, namespace, connectionOptions: { address } }, dataConverter)
}

/** A connection for workers. Close it after the workers have stopped, or use {@link temporalTest}, which does. */
export function connectNative(): Promise<NativeConnection> {
  return NativeConnection.connect({ address: sharedServer().address })
}

/** A unique name for a task queue or a workflow. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomUUID()}`
}

/** vitest's `test` with a client and a worker connection (one per file) and unique names, created when used. */
export const temporalTest = test
  .extend('server', { scope: 'file' }, () => sharedServer())
  .extend('client', { scope: 'file' }, async ({ server }, { onCleanup }) => {
    const connection = await Connection.connect({ address: server.address })
    onCleanup(() => connection.close())
    return new Client({ connection, namespace: server.namespace })
  })
  .extend('nativeConnection', { scope: 'file' }, async ({ server }, { onCleanup }) => {
    const connection = await NativeConnection.connect({ address: server.address })
    onCleanup(() => connection.close())
    return connection
  })
  .extend('taskQueue', () => uniqueName('queue'))
  .extend('workflowId', () => uniqueName('workflow'))

/** Terminates a workflow at the end of the test, so that it does not stay open on the shared server. */
export function terminateAfterTest(client: Client, workflowId: string): void {
  onTestFinished(async () => {
    // Most workflows have completed by then.
    await client.workflow
      .getHandle(workflowId)
      .terminate('the test has ended')
      .catch(() => {})
  })
}
